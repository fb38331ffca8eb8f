// What Spark is doing, under the cell that runs: told by the kernel twice a second, and stored nowhere.
const TARGET = 'workbench.progress';

export async function plugin(shared) {
  const { INotebookTracker, NotebookActions } = await shared('@jupyterlab/notebook');
  return {
    id: 'iceberg-workbench:progress',
    autoStart: true,
    requires: [INotebookTracker],
    activate: (app, tracker) => {
      const style = document.createElement('style');
      style.textContent = CSS;
      document.head.append(style);
      const watched = new Map(); // notebook to its Watch
      const of = notebook => {
        let panel = null;
        tracker.forEach(each => {
          if (each.content === notebook) panel = each;
        });
        if (!panel) return null;
        if (!watched.has(notebook)) {
          watched.set(notebook, new Watch(panel));
          panel.disposed.connect(() => {
            watched.get(notebook)?.end();
            watched.delete(notebook);
          });
        }
        return watched.get(notebook);
      };
      tracker.widgetAdded.connect((_, panel) => void panel.sessionContext.ready.then(() => of(panel.content)));
      NotebookActions.executionScheduled.connect((_, { notebook, cell }) => of(notebook)?.begin(cell));
      NotebookActions.executed.connect((_, { notebook, cell }) => of(notebook)?.done(cell));
    }
  };
}

class Watch {
  constructor(panel) {
    this.panel = panel;
    this.cells = []; // that wait or run, in their order
    this.comm = null;
    panel.sessionContext.statusChanged.connect((_, status) => {
      if (['restarting', 'autorestarting', 'dead', 'terminating', 'unknown'].includes(status)) this.end();
    });
    panel.sessionContext.kernelChanged.connect(() => {
      this.end();
      this.listen();
    });
    this.listen();
  }

  // The kernel tells by itself what runs, so that it is not asked while it is busy.
  listen() {
    const kernel = this.panel.sessionContext.session?.kernel;
    if (!kernel || (this.comm && !this.comm.isDisposed && this.kernel === kernel)) return;
    const comm = kernel.createComm(TARGET);
    Object.assign(this, { kernel, comm });
    comm.onMsg = message => this.show(message.content.data);
    const open = () => {
      if (!comm.isDisposed) comm.open({});
    };
    // on a subshell it reaches a busy kernel, too; a kernel without our part closes it
    if (kernel.supportsSubshells) Promise.resolve(comm.subshellStarted).then(open, () => {});
    else open();
  }

  begin(cell) {
    if (cell.model?.type !== 'code') return;
    if (!this.cells.includes(cell)) this.cells.push(cell);
    if (!this.comm) this.listen(); // after a restart
  }

  done(cell) {
    this.cells = this.cells.filter(each => each !== cell);
    this.hide();
  }

  show({ stages, count }) {
    this.hide();
    const cell = this.cells[0];
    if (!cell || cell.isDisposed || !stages?.length) return;
    const box = document.createElement('div');
    box.className = 'workbench-progress';
    for (const { id, tasks, done, rows } of stages) {
      const line = document.createElement('div');
      const bar = document.createElement('progress');
      bar.max = tasks;
      bar.value = done;
      const text = document.createElement('span');
      const read = rows ? `, ${rows.toLocaleString('en')} rows read` : '';
      text.textContent = `stage ${id}: ${done.toLocaleString('en')} of ${tasks.toLocaleString('en')} tasks${read}`;
      line.append(bar, text);
      box.append(line);
    }
    if (count > stages.length) {
      const more = document.createElement('div');
      more.textContent = `… and ${count - stages.length} more stages`;
      box.append(more);
    }
    cell.node.append(box);
    this.box = box;
  }

  hide() {
    this.box?.remove();
    this.box = null;
  }

  end() {
    this.cells = [];
    this.comm = null;
    this.hide();
  }
}

const CSS = `
.workbench-progress { margin: 2px 8px 6px 80px; color: var(--jp-ui-font-color2);
  font-family: var(--jp-ui-font-family); font-size: var(--jp-ui-font-size1); }
.workbench-progress > div { display: flex; align-items: center; gap: 8px; }
.workbench-progress progress { flex: 0 1 160px; min-width: 60px; height: 10px; accent-color: var(--jp-brand-color1); }
@media (max-width: 760px) { .workbench-progress { margin-left: 12px; } }`;
