// What JupyterLab loads: each feature is a module of its own, and one that is broken is left out with a warning.
(() => {
  const NAME = 'iceberg-workbench';
  const FEATURES = ['panel', 'table', 'progress', 'colours'];
  const here = new URL('.', document.currentScript.src).href;
  const version = new URL(document.currentScript.src).search;
  let scope = null;

  // A package as Lab has it: its classes and tokens, never a copy.
  async function shared(name) {
    const versions = (scope || {})[name];
    if (!versions) throw new Error(`JupyterLab does not share ${name}`);
    const factory = await Object.values(versions)[0].get();
    return factory();
  }

  async function feature(name) {
    try {
      const module = await import(`${here}${name}.js${version}`);
      return await module.plugin(shared);
    } catch (error) {
      console.warn(`${NAME}: ${name}.js is left out: ${error}`);
      return null;
    }
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[NAME] = {
    init: given => {
      scope = given;
    },
    get: async () => {
      const plugins = (await Promise.all(FEATURES.map(feature))).filter(Boolean);
      return () => ({ __esModule: true, default: plugins }); // without __esModule Lab stays blank
    }
  };
})();
