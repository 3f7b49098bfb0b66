/**
 * An app, and how a bundler builds it. The commands are run in a copy of the app two folders below this one.
 * @typedef {object} Build
 * @property {string} name
 * @property {'app' | 'vue-app'} app
 * @property {string[]} command a program of node_modules/.bin or node, and arguments
 * @property {boolean} [large] takes long to install or build: only with ALL=1
 */

/** What gets into the bundles of an app besides its own code. */
export const packages = {
  app: ['react', 'react-dom', 'react-router', 'zustand'],
};

/** @type {Build[]} */
export const builds = [
  { name: 'vite', app: 'app', command: ['vite', 'build', '--config', '../../vite/vite.config.js'] },
  { name: 'esbuild', app: 'app', command: ['node', '../../esbuild/build.js'] },
  { name: 'webpack-terser', app: 'app', command: ['webpack', '--config', '../../webpack-terser/webpack.config.js'] },
  { name: 'webpack-swc', app: 'app', command: ['webpack', '--config', '../../webpack-swc/webpack.config.js'] },
  { name: 'rspack', app: 'app', command: ['rspack', 'build', '--config', '../../rspack/rspack.config.js'] },
  { name: 'rollup-terser', app: 'app', command: ['rollup', '--config', '../../rollup-terser/rollup.config.js'] },
];
