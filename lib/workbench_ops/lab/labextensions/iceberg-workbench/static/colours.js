// SQL cells are coloured as SQL: a cell that begins with %%sql has the mode of SQL while it does.
const SQL = 'text/x-sql';

export async function plugin(shared) {
  const { INotebookTracker } = await shared('@jupyterlab/notebook');
  return {
    id: 'iceberg-workbench:colours',
    autoStart: true,
    requires: [INotebookTracker],
    activate: (app, tracker) => {
      tracker.widgetAdded.connect((_, panel) => follow(panel));
      tracker.forEach(follow);
    }
  };
}

function follow(panel) {
  void panel.context.ready.then(() => {
    const notebook = panel.content;
    const known = new WeakSet();
    const all = () => {
      for (const cell of notebook.model?.cells ?? []) {
        if (cell.type !== 'code') continue;
        if (!known.has(cell)) {
          known.add(cell);
          cell.contentChanged.connect(() => colour(notebook, cell));
          cell.mimeTypeChanged.connect(() => colour(notebook, cell)); // Lab sets it anew when a kernel is there
        }
        colour(notebook, cell);
      }
    };
    notebook.model.cells.changed.connect(all);
    all();
  });
}

function colour(notebook, cell) {
  const mode = /^%%sql\b/.test(cell.sharedModel.getSource()) ? SQL : notebook.codeMimetype;
  if (cell.mimeType !== mode) cell.mimeType = mode;
}
