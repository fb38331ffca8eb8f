// The panel of tables: environments, namespaces, tables, and what a table is; answered by the server, no kernel needed.
// What tables are called and what they hold is written as text, never as HTML.

// of the same version as this file, which its address has at the end
const { made, count, several, time, sentence, waiting, STILL_COUNTED, columns, schemas, files, rows, difference } =
  await import(new URL(`pages.js${new URL(import.meta.url).search}`, import.meta.url));

export async function plugin(shared) {
  const { INotebookTracker, NotebookActions } = await shared('@jupyterlab/notebook');
  const { ServerConnection } = await shared('@jupyterlab/services');
  const { PageConfig, URLExt } = await shared('@jupyterlab/coreutils');
  const { LabIcon } = await shared('@jupyterlab/ui-components');
  const { Widget } = await shared('@lumino/widgets');
  return {
    id: 'iceberg-workbench:panel',
    autoStart: true,
    requires: [INotebookTracker],
    activate: (app, tracker) => {
      const style = document.createElement('style');
      style.textContent = CSS;
      document.head.append(style);
      const widget = new Widget();
      widget.id = 'iceberg-workbench-panel';
      widget.title.label = '';
      widget.title.caption = 'Iceberg tables';
      widget.title.icon = new LabIcon({ name: 'iceberg-workbench:tables', svgstr: ICON });
      widget.addClass('workbench-panel');
      const ask = asking(ServerConnection, PageConfig, URLExt);
      const panel = new Panel(widget.node, ask, cells => insert(app, tracker, NotebookActions, cells));
      app.shell.add(widget, 'left', { rank: 150 });
      const shown = new IntersectionObserver(entries => {
        if (entries.some(entry => entry.isIntersecting)) panel.begin(); // nothing is asked before it is looked at
      });
      shown.observe(widget.node);
    }
  };
}

// A function that asks the server; what cannot be answered is an error whose message is a sentence.
function asking(ServerConnection, PageConfig, URLExt) {
  const settings = ServerConnection.makeSettings();
  return async (name, asked = {}) => {
    const given = Object.entries(asked).filter(([, value]) => value !== null && value !== undefined);
    const address = URLExt.join(settings.baseUrl, 'workbench', name) + '?' + new URLSearchParams(given);
    let response;
    try {
      response = await ServerConnection.makeRequest(address, {}, settings);
    } catch {
      throw new Error('Jupyter’s server does not answer: is `workbench lab` still running?');
    }
    if (response.status === 403 || response.status === 401) {
      throw new Error(
        `Jupyter’s server refuses this page (${response.status}): its token is missing or no longer valid. ` +
          'Open the address that `workbench lab` printed.'
      );
    }
    if (response.status === 404) {
      throw new Error('Jupyter’s server has no part of the workbench: start it with `workbench lab`.');
    }
    const answer = await response.json().catch(() => null);
    if (!response.ok) throw new Error(answer?.sentence ?? `Jupyter’s server answered ${response.status}.`);
    return answer;
  };
}

// Put cells below the active one of the current notebook, or of a new one; the set-up only where it is missing.
async function insert(app, tracker, NotebookActions, { setup, source }) {
  let panel = tracker.currentWidget;
  if (!panel) {
    panel = await app.commands.execute('notebook:create-new', { kernelName: 'python3' });
    await panel.context.ready;
  }
  const notebook = panel.content;
  const sources = [...notebook.model.cells].map(cell => cell.sharedModel.getSource());
  const missing = sources.some(text => /\bsql\.cells\(/.test(text)) ? [] : [setup];
  for (const text of [...missing, source]) {
    const active = notebook.activeCell?.model;
    if (!active || active.type !== 'code' || active.sharedModel.getSource().trim()) NotebookActions.insertBelow(notebook);
    notebook.activeCell.model.sharedModel.setSource(text);
  }
  app.shell.activateById(panel.id);
}

class Panel {
  constructor(node, ask, insertCells) {
    Object.assign(this, { ask, insertCells, begun: false, environment: null, table: null, turn: 0 });
    this.choice = made('select', { ariaLabel: 'environment' });
    this.choice.onchange = () => this.choose(this.choice.value);
    const again = made('button', { textContent: '⟳', title: 'look again' });
    again.onclick = () => this.begin(true);
    this.about = made('p', { className: 'workbench-about' });
    this.filter = made('input', { type: 'search', placeholder: 'filter tables', ariaLabel: 'filter tables' });
    this.filter.oninput = () => this.filtered();
    this.tree = made('div', { className: 'workbench-tree' });
    this.detail = made('div', { className: 'workbench-detail' });
    const top = made('div', { className: 'workbench-top' }, this.choice, again);
    node.append(top, this.about, this.filter, this.tree, this.detail);
  }

  // Fill a place with what a promise gives; an error is a sentence there, and an answer that came too late is dropped.
  // Whether the answer is drawn is returned.
  async fill(place, promise, draw) {
    const turn = (place.turn = (place.turn ?? 0) + 1);
    place.replaceChildren(waiting());
    let nodes;
    let answered = true;
    try {
      const answer = await promise;
      if (place.turn !== turn) return false;
      nodes = draw(answer);
    } catch (error) {
      nodes = [sentence(error)];
      answered = false;
    }
    if (place.turn !== turn) return false;
    place.replaceChildren(...[nodes].flat());
    return answered;
  }

  // Read the list of environments; one that was chosen and is still there stays so, and its tree is read again.
  async begin(again = false) {
    if (this.begun && !again) return;
    this.begun = true;
    const drawn = await this.fill(this.tree, this.ask('environments'), environments => {
      this.environments = environments;
      this.choice.replaceChildren(
        made('option', { value: '', textContent: 'choose an environment', disabled: true, selected: true }),
        ...environments.map(({ name }) => made('option', { value: name, textContent: name }))
      );
      return made('p', { className: 'workbench-about', textContent: 'An environment says where tables are.' });
    });
    if (!drawn || !this.environment) return;
    const gone = this.environments.every(({ name }) => name !== this.environment);
    if (!gone) {
      this.choice.value = this.environment;
      return this.choose(this.environment);
    }
    this.tree.replaceChildren(sentence(new Error(`environment ${this.environment} is no longer there: choose another`)));
    this.environment = this.table = null;
    this.about.textContent = '';
    this.detail.replaceChildren();
  }

  choose(name) {
    this.environment = name;
    this.table = null;
    this.detail.replaceChildren();
    const chosen = this.environments.find(each => each.name === name);
    this.about.textContent = chosen?.description ?? '';
    const asked = chosen?.error ? Promise.reject(new Error(chosen.error)) : this.ask('tree', { environment: name });
    void this.fill(this.tree, asked, namespaces => {
      if (!namespaces.length) return made('p', { className: 'workbench-about', textContent: 'There is no namespace yet.' });
      const nothing = made('p', { className: 'workbench-about workbench-no-match', hidden: true });
      nothing.textContent = 'no table has this in its name';
      return [...namespaces.map(namespace => this.namespace(namespace)), nothing];
    }).then(() => this.filtered());
  }

  namespace({ name, tables, views, error }) {
    const list = made('ul');
    for (const table of [...tables, ...views]) {
      const isView = views.includes(table);
      const short = table.startsWith(`${name}.`) ? table.slice(name.length + 1) : table;
      const button = made('button', { textContent: isView ? `${short} (view)` : short, title: table });
      button.dataset.table = table;
      if (isView) {
        button.title = `${table} is a view: this writes a SQL cell that reads it`;
        this.writes(button, { environment: this.environment, view: table });
      } else {
        button.onclick = () => this.look(table);
      }
      list.append(made('li', {}, button));
    }
    const inside = error ? sentence(new Error(error)) : list;
    const number = made('small', { textContent: count(tables.length + views.length) });
    const summary = made('summary', { textContent: `${name} ` }, number);
    const node = made('details', { open: true }, summary, inside);
    node.dataset.unread = error ? 'true' : '';
    return node;
  }

  // Show what has the text of the filter in its name; what could not be listed stays with its sentence.
  filtered() {
    const text = this.filter.value.toLowerCase();
    let all = 0;
    for (const namespace of this.tree.querySelectorAll('details')) {
      let matches = 0;
      for (const button of namespace.querySelectorAll('button[data-table]')) {
        const matching = button.dataset.table.toLowerCase().includes(text);
        button.parentNode.hidden = !matching;
        matches += matching;
      }
      namespace.querySelector('small').textContent = count(matches);
      namespace.hidden = Boolean(text) && !matches && !namespace.dataset.unread;
      all += matches;
    }
    const nothing = this.tree.querySelector('.workbench-no-match');
    if (nothing) nothing.hidden = !text || all > 0;
  }

  look(table) {
    this.table = table;
    for (const button of this.tree.querySelectorAll('button[data-table]')) {
      button.ariaPressed = String(button.dataset.table === table);
    }
    const asked = { environment: this.environment, table };
    void this.fill(this.detail, this.ask('head', asked), head => this.drawn(head, asked));
  }

  drawn(head, asked) {
    const now = head.current;
    const deletes = Number(now?.delete_files ?? 0);
    let first = head; // what the first tab shows; any later one asks anew, because the table may be another by then
    const asking = () => {
      const known = first;
      first = null;
      return known ?? this.ask('head', asked);
    };
    const facts = [
      now ? `${several(now.rows, 'row')} in ${several(now.data_files, 'data file')}` : 'no snapshot yet',
      deletes && `rows that its ${several(deletes, 'delete file')} delete${deletes === 1 ? 's' : ''} are still counted`,
      `version ${head.format_version}, ${several(head.snapshots, 'snapshot')}`,
      `partitioned by ${head.partitioned_by.join(', ') || 'nothing'}`,
      head.sorted_by.length ? `sorted by ${head.sorted_by.join(', ')}` : null
    ].filter(Boolean);
    const place = made('div', { className: 'workbench-page' });
    const opening = {
      columns: () => this.fill(place, asking(), found => columns(found.columns)),
      snapshots: () => this.fill(place, this.ask('snapshots', asked), found => this.snapshots(found, asked)),
      schemas: () => this.fill(place, this.ask('schemas', asked), schemas),
      files: () => this.fill(place, this.ask('files', asked), files),
      refs: () => this.fill(place, asking(), found => this.refs(found.refs, asked)),
      rows: () => this.fill(place, this.ask('preview', asked), rows)
    };
    const tabs = made('div', { className: 'workbench-tabs', role: 'tablist' });
    for (const [name, open] of Object.entries(opening)) {
      const tab = made('button', { textContent: name, role: 'tab' });
      tab.onclick = () => {
        for (const each of tabs.children) each.ariaSelected = String(each === tab);
        void open();
      };
      tabs.append(tab);
    }
    tabs.children[0].click();
    return [
      made('h3', { textContent: head.table }),
      ...facts.map(textContent => made('p', { className: 'workbench-fact', textContent })),
      now ? this.action('SQL cell', { ...asked, at: now.snapshot_id }, 'a cell that queries the current snapshot') : null,
      tabs,
      place
    ].filter(Boolean);
  }

  action(textContent, asked, title) {
    const button = made('button', { className: 'workbench-action', textContent, title });
    return this.writes(button, asked);
  }

  // Let a button write a cell; what cannot be written is a sentence beside it.
  writes(button, asked) {
    button.onclick = async () => {
      button.parentNode.querySelector(':scope > .workbench-sentence')?.remove();
      button.disabled = true;
      try {
        await this.insertCells(await this.ask('cell', typeof asked === 'function' ? asked() : asked));
      } catch (error) {
        button.after(sentence(error));
      }
      button.disabled = false;
    };
    return button;
  }

  snapshots({ count: all, snapshots: listed }, asked) {
    if (!listed.length) return made('p', { textContent: 'The table has no snapshot yet.' });
    let [before, after] = [listed[1]?.snapshot_id ?? listed[0].snapshot_id, listed[0].snapshot_id];
    const group = `workbench-${Math.random()}`;
    const changed = made('div');
    const lines = listed.map(snapshot => {
      const id = snapshot.snapshot_id;
      const radio = (side, chosen, take) =>
        made('input', {
          type: 'radio', name: `${group}-${side}`, checked: chosen, title: `compare ${side} this one`, onchange: take
        });
      const added = snapshot.added_rows === null ? '' : `+${count(snapshot.added_rows)}`;
      const removed = !Number(snapshot.removed_rows) ? '' : ` −${count(snapshot.removed_rows)}`;
      const names = snapshot.refs.join(', ') || (snapshot.on_main ? '' : 'not on main');
      return made(
        'li',
        {},
        radio('from', id === before, () => (before = id)),
        radio('to', id === after, () => (after = id)),
        made(
          'span',
          { title: `snapshot ${id}` },
          made('b', { textContent: `${snapshot.n} ` }),
          `${time(snapshot.committed)} ${snapshot.operation ?? ''} `,
          made('small', { textContent: `${added}${removed} ${names}` })
        ),
        this.action('SQL', { ...asked, at: id }, 'a cell that queries this snapshot')
      );
    });
    const headings = ['from', 'to'].map(textContent => made('small', { textContent }));
    const marks = made('li', { className: 'workbench-marks' }, ...headings);
    const withDeletes = listed.some(each => Number(each.delete_files));
    const compare = made('button', { className: 'workbench-action', textContent: 'compare' });
    compare.onclick = () => this.fill(changed, this.ask('difference', { ...asked, before, after }), difference);
    const cell = this.action('compare in a cell', () => ({ ...asked, before, after }), 'a cell that shows the rows');
    return [
      made('p', { className: 'workbench-about', textContent: 'times are UTC; mark the two to compare' }),
      made('ul', { className: 'workbench-snapshots' }, marks, ...lines),
      withDeletes ? made('p', { className: 'workbench-about', textContent: STILL_COUNTED }) : '',
      Number(all) > listed.length ? made('p', { textContent: `the newest ${count(listed.length)} of ${count(all)}` }) : '',
      made('div', {}, compare, cell),
      changed
    ];
  }

  refs(refs, asked) {
    if (!refs.length) return made('p', { textContent: 'The table has no branch or tag.' });
    const lines = refs.map(ref =>
      made(
        'li',
        {},
        made('span', { title: `snapshot ${ref.snapshot_id}` }, made('b', { textContent: ref.name }), ` ${ref.kind} `),
        this.action('SQL', { ...asked, ref: ref.name }, `a cell that queries ${ref.kind} ${ref.name} as it is when it runs`)
      )
    );
    return made('ul', { className: 'workbench-snapshots' }, ...lines);
  }
}

// an iceberg, most of it below the water
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">' +
  '<path d="M12 2l4 6H7z"/><path d="M1 9.5h22V11H1z"/><path d="M5 12.5h14L16 19l-4 3-4-4z"/></g></svg>';

const CSS = `
.workbench-panel { display: flex; flex-direction: column; overflow: hidden; min-width: 240px;
  background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); font-family: var(--jp-ui-font-family);
  font-size: var(--jp-ui-font-size1); }
.workbench-panel.lm-mod-hidden { display: none; }
.workbench-panel p { margin: 2px 10px; }
.workbench-panel h3 { margin: 8px 10px 4px; overflow-wrap: anywhere; }
.workbench-panel small, .workbench-about, .workbench-waiting { color: var(--jp-ui-font-color2); }
.workbench-sentence { color: var(--jp-error-color1); overflow-wrap: anywhere; }
.workbench-top { display: flex; gap: 4px; padding: 8px 10px 4px; }
.workbench-panel select, .workbench-panel input[type=search] { background: var(--jp-layout-color0);
  color: var(--jp-ui-font-color1); border: 1px solid var(--jp-border-color1); padding: 3px 6px; flex: 1; min-width: 0; }
.workbench-panel > input[type=search] { margin: 4px 10px; flex: none; }
.workbench-tree { flex: 1 1 35%; overflow: auto; min-height: 80px; }
.workbench-detail { flex: 1 1 65%; overflow: auto; border-top: 1px solid var(--jp-border-color1); }
.workbench-detail:empty { display: none; }
.workbench-panel summary { padding: 3px 10px; cursor: pointer; font-weight: 600; }
.workbench-panel ul { list-style: none; margin: 0; padding: 0; }
.workbench-tree li button { all: unset; cursor: pointer; box-sizing: border-box; width: 100%;
  padding: 2px 10px 2px 28px; overflow-wrap: anywhere; }
.workbench-tree li button:hover { background: var(--jp-layout-color2); }
.workbench-tree li button[aria-pressed=true] { background: var(--jp-layout-color3);
  color: var(--jp-ui-font-color0); box-shadow: inset 3px 0 var(--jp-brand-color1); }
.workbench-panel button:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -2px; }
.workbench-top button, .workbench-action { cursor: pointer; color: var(--jp-ui-font-color1);
  background: var(--jp-layout-color2); border: 1px solid var(--jp-border-color1); border-radius: 2px; }
.workbench-action { margin: 2px 4px 2px 10px; padding: 1px 8px; font-size: var(--jp-ui-font-size0); white-space: nowrap; }
.workbench-tabs { display: flex; flex-wrap: wrap; padding: 4px 6px 0; border-bottom: 1px solid var(--jp-border-color1); }
.workbench-tabs button { all: unset; cursor: pointer; padding: 4px 6px; color: var(--jp-ui-font-color2); }
.workbench-tabs button[aria-selected=true] { color: var(--jp-ui-font-color0); border-bottom: 2px solid var(--jp-brand-color1); }
.workbench-page { padding: 4px 0 16px; overflow-x: auto; }
.workbench-page table { border-collapse: collapse; margin: 2px 6px; }
.workbench-page td, .workbench-page th { padding: 2px 6px; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--jp-border-color2); max-width: 260px; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
.workbench-page .workbench-prose td { white-space: normal; overflow-wrap: break-word; }
.workbench-page .workbench-number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.workbench-page .workbench-null { color: var(--jp-ui-font-color3); font-style: italic; }
.workbench-snapshots li { display: flex; flex-wrap: wrap; align-items: center; padding: 2px 6px; }
.workbench-snapshots li > input, .workbench-marks small { flex: none; width: 13px; margin: 0 8px; }
.workbench-marks small { display: flex; justify-content: center; }
.workbench-snapshots li > span { flex: 1; overflow-wrap: anywhere; }`;
