// What the tabs of the panel show: nodes made of the server's answers; names and values are written as text.

export function made(kind, properties = {}, ...children) {
  const node = document.createElement(kind);
  Object.assign(node, properties);
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

export const count = number => (number === null || number === undefined ? 'unknown' : Number(number).toLocaleString('en'));
export const several = (number, noun) => `${count(number)} ${noun}${Number(number) === 1 ? '' : 's'}`;
export const STILL_COUNTED = 'rows are those of data files; rows that delete files delete are still counted';
// to the millisecond: shorter, a time would name the snapshot before
export const time = text => String(text).match(/^[^+]{19}(\.\d{3})?/)?.[0] ?? String(text);
export const sentence = error => made('p', { className: 'workbench-sentence', textContent: error.message });
export const waiting = () => made('p', { className: 'workbench-waiting', textContent: '…' });

export function columns(listed) {
  const lines = listed.map(column =>
    made(
      'tr',
      { title: column.comment ?? '' },
      made('td', { textContent: column.name }),
      made('td', { textContent: `${column.type}${column.required ? ', required' : ''}` }),
      made('td', { textContent: column.comment ?? '' })
    )
  );
  return made('table', { className: 'workbench-prose' }, ...lines);
}

export function schemas(listed) {
  return listed.flatMap(schema => [
    made('p', { className: 'workbench-about', textContent: `schema ${schema.id}${schema.current ? ', the current one' : ''}` }),
    columns(schema.columns)
  ]);
}

export function files({ count: all, bytes, files: listed }) {
  const lines = listed.map(file => {
    const partition = Object.entries(file.partition).map(([field, value]) => `${field}=${value}`);
    const name = file.content === 'data' ? partition.join(', ') || file.path.split('/').pop() : file.content;
    // numbers stand first: what is long goes out of a narrow panel
    return made(
      'tr',
      { title: file.path },
      made('td', { className: 'workbench-number', textContent: several(file.rows, 'row') }),
      made('td', { className: 'workbench-number', textContent: `${count(file.bytes)} B` }),
      made('td', { textContent: name })
    );
  });
  const more = Number(all) > listed.length ? `; the first ${count(listed.length)}` : '';
  const text = `${several(all, 'file')}, ${several(bytes, 'byte')}${more}`;
  return [made('p', { className: 'workbench-about', textContent: text }), made('table', {}, ...lines)];
}

export function rows({ columns: names, rows: lines, complete }) {
  const head = made('tr', {}, ...names.map(name => made('th', { textContent: name, title: name })));
  const body = lines.map(line =>
    made(
      'tr',
      {},
      ...line.map(value =>
        made('td', value === null ? { className: 'workbench-null', textContent: 'null' } : { textContent: value, title: value })
      )
    )
  );
  const text = complete ? 'these are all rows' : `${several(lines.length, 'row')} of the newest files; there are more`;
  return [made('p', { className: 'workbench-about', textContent: text }), made('table', {}, head, ...body)];
}

export function difference(changed) {
  const name = column => `${column.name} ${column.type}`;
  const facts = [
    `${several(changed.added_files, 'data file')} came with ${several(changed.added_rows, 'row')}`,
    `${several(changed.removed_files, 'data file')} went with ${several(changed.removed_rows, 'row')}`,
    `${several(changed.added_deletes, 'delete file')} came, ${count(changed.removed_deletes)} went`,
    ...(changed.has_delete_files ? [STILL_COUNTED] : []),
    ...changed.added_columns.map(column => `column came: ${name(column)}`),
    ...changed.removed_columns.map(column => `column went: ${name(column)}`),
    ...changed.changed_columns.map(([old, now]) => `column changed: ${name(old)} became ${name(now)}`)
  ];
  return facts.map(textContent => made('p', { className: 'workbench-fact', textContent }));
}
