// Results as a table that knows its types: it sorts by them, and needs no kernel.
const MEDIA = 'application/vnd.workbench.table+json';
const PAGE = 50; // rows

export async function plugin(shared) {
  const { IRenderMimeRegistry } = await shared('@jupyterlab/rendermime');
  const { Widget } = await shared('@lumino/widgets');
  class Table extends Widget {
    async renderModel(model) {
      const data = model.data[MEDIA];
      this.node.replaceChildren();
      try {
        this.node.append(table(data));
      } catch (error) {
        console.warn(`iceberg-workbench: a table is shown as text: ${error}`);
        const text = document.createElement('pre');
        text.textContent = String(model.data['text/plain'] ?? JSON.stringify(data));
        this.node.replaceChildren(text);
      }
    }
  }
  return {
    id: 'iceberg-workbench:table',
    autoStart: true,
    requires: [IRenderMimeRegistry],
    activate: (app, registry) => {
      const style = document.createElement('style');
      style.textContent = CSS;
      document.head.append(style);
      registry.addFactory(
        { safe: true, mimeTypes: [MEDIA], defaultRank: 30, createRenderer: () => new Table() },
        30 // before text/html, which is shown where this file is not there
      );
    }
  };
}

export function table({ columns, rows, note }) {
  const root = document.createElement('div');
  root.className = 'workbench-table';
  const grid = document.createElement('table');
  const heads = grid.createTHead().insertRow();
  const body = grid.createTBody();
  const foot = document.createElement('div');
  foot.className = 'workbench-table-foot';
  let order = rows.map((_, n) => n);
  let by = null; // [column, 1 or -1]
  let page = 0;
  columns.forEach(({ name, type }, n) => {
    const head = document.createElement('th');
    const button = document.createElement('button');
    button.title = 'sort';
    const label = document.createElement('span');
    label.textContent = name;
    const kind = document.createElement('small');
    kind.textContent = type;
    button.append(label, kind);
    button.onclick = () => {
      by = by?.[0] === n ? (by[1] === 1 ? [n, -1] : null) : [n, 1];
      order = rows.map((_, row) => row);
      if (by) order.sort((a, b) => placed(rows[a][n], rows[b][n], type, by[1]) || a - b);
      page = 0;
      fill();
    };
    head.append(button);
    if (isNumber(type)) head.className = 'workbench-right';
    heads.append(head);
  });
  const fill = () => {
    [...heads.cells].forEach((head, n) => {
      head.ariaSort = by?.[0] === n ? (by[1] === 1 ? 'ascending' : 'descending') : 'none';
    });
    body.replaceChildren();
    for (const n of order.slice(page * PAGE, (page + 1) * PAGE)) {
      const line = body.insertRow();
      rows[n].forEach((value, place) => {
        const cell = line.insertCell();
        if (value === null) {
          cell.className = 'workbench-null';
          cell.textContent = 'null';
        } else {
          cell.textContent = value;
        }
        if (isNumber(columns[place].type)) cell.classList.add('workbench-right');
      });
    }
    foot.replaceChildren();
    const pages = Math.ceil(rows.length / PAGE);
    if (pages > 1) {
      const step = (text, to) => {
        const button = document.createElement('button');
        button.textContent = text;
        button.disabled = to < 0 || to >= pages;
        button.onclick = () => {
          page = to;
          fill();
        };
        return button;
      };
      foot.append(step('‹', page - 1), ` page ${page + 1} of ${pages} `, step('›', page + 1));
    }
    if (note) foot.append(` ${note}`);
  };
  fill();
  root.append(grid, foot);
  return root;
}

export function isNumber(type) {
  return /^(tinyint|smallint|int|bigint|float|double|decimal)\b/.test(type);
}

// The order of two values of a column; null is last, whichever way the column is sorted.
export function placed(a, b, type, way) {
  if (a === null || b === null) return (a === null) - (b === null);
  return way * (isNumber(type) ? byNumber(a, b) : a < b ? -1 : a > b ? 1 : 0);
}

function byNumber(a, b) {
  const [x, y] = [exact(a), exact(b)];
  if (x !== null && y !== null) {
    const places = Math.max(x.places, y.places);
    const [left, right] = [x, y].map(each => each.digits * 10n ** BigInt(places - each.places));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const [left, right] = [a, b].map(text => (text === 'nan' || text === 'NaN' ? NaN : real(text)));
  if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right); // as in Spark
  return left < right ? -1 : left > right ? 1 : 0;
}

// An integer or decimal of any length, which a number of JavaScript would round.
function exact(text) {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return null;
  const fraction = match[3] ?? '';
  return { digits: BigInt(match[1] + match[2] + fraction), places: fraction.length };
}

function real(text) {
  return Number(text.replace(/^(-?)inf(inity)?$/i, '$1Infinity'));
}

const CSS = `
.workbench-table { max-height: 480px; overflow: auto; font-size: var(--jp-ui-font-size1);
  font-family: var(--jp-ui-font-family); color: var(--jp-ui-font-color1); padding: 4px 0; }
.workbench-table table { border-collapse: collapse; }
.workbench-table th { position: sticky; top: -4px; background: var(--jp-layout-color1); padding: 0;
  border-bottom: 2px solid var(--jp-border-color1); text-align: left; }
.workbench-table th button { all: unset; cursor: pointer; display: block; width: 100%; box-sizing: border-box;
  padding: 3px 10px; font-weight: 600; }
.workbench-table th button:focus-visible { outline: 2px solid var(--jp-brand-color1); }
.workbench-table th small { display: block; font-weight: 400; color: var(--jp-ui-font-color2); max-width: 240px;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.workbench-table th[aria-sort=ascending] span::after { content: ' ▲'; }
.workbench-table th[aria-sort=descending] span::after { content: ' ▼'; }
.workbench-table td { padding: 2px 10px; max-width: 420px; overflow-wrap: break-word; white-space: pre-wrap;
  border-bottom: 1px solid var(--jp-border-color2); vertical-align: top; }
.workbench-table tbody tr:hover { background: var(--jp-layout-color2); }
.workbench-table .workbench-right { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.workbench-table .workbench-null { color: var(--jp-ui-font-color2); font-style: italic; }
.workbench-table-foot { color: var(--jp-ui-font-color2); padding: 4px 10px; }`;
