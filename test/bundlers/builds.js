/**
 * An app, and how a bundler builds it. Commands are run in a copy of the app two folders below this one.
 * @typedef {object} Build
 * @property {string} name begins with the app
 * @property {string} app its folder
 * @property {string[]} command a program of node_modules/.bin or node, and arguments
 * @property {boolean} [large] left out unless it is asked for: it takes long to install
 * @property {string} [project] a folder with packages of its own, and files that the app needs besides its own
 * @property {string} [packages] a folder with packages of its own, and no files
 * @property {string} [dist] where the scripts get, from the app
 * @property {string} [base] path of the URLs of scripts
 * @property {string} [document] the page, from the app; else one is made that loads the scripts
 */

/** The packages that get into the bundles of an app. */
export const packages = {
  app: ['react', 'react-dom', 'scheduler', 'react-router', 'cookie', 'set-cookie-parser', 'zustand'],
  vue: ['vue', '@vue/shared', '@vue/reactivity', '@vue/runtime-core', '@vue/runtime-dom', 'pinia', 'nostics'],
};

/** @type {Build[]} */
export const builds = [
  {
    name: 'app-vite',
    app: 'app',
    command: ['vite', 'build', '--config', '../../vite/vite.config.js'],
    document: 'dist/index.html',
  },
  { name: 'app-esbuild', app: 'app', command: ['node', '../../esbuild/build.js'] },
  { name: 'app-webpack-terser', app: 'app', command: ['webpack', '--config', '../../webpack-terser/webpack.config.js'] },
  { name: 'app-webpack-swc', app: 'app', command: ['webpack', '--config', '../../webpack-swc/webpack.config.js'] },
  { name: 'app-rspack', app: 'app', command: ['rspack', 'build', '--config', '../../rspack/rspack.config.js'] },
  { name: 'app-rollup-terser', app: 'app', command: ['rollup', '--config', '../../rollup-terser/rollup.config.js'] },
  {
    name: 'app-parcel',
    app: 'app',
    command: ['parcel', 'build', 'index.html', '--config', '../../parcel/.parcelrc', '--no-cache'],
    document: 'dist/index.html',
  },
  {
    name: 'app-next',
    app: 'app',
    project: 'next',
    large: true,
    command: ['next', 'build'],
    dist: '.next/static',
    base: '/_next/static/',
    document: '.next/server/pages/[[...path]].html',
  },
  {
    name: 'vue-vite',
    app: 'vue',
    command: ['vite', 'build', '--config', '../../vite-vue/vite.config.js'],
    document: 'dist/index.html',
  },
  { name: 'vue-webpack', app: 'vue', command: ['webpack', '--config', '../../webpack-vue/webpack.config.js'] },
];

/** The builds that are made of the next release too, which app-next.patch makes. */
export const releases = ['app-vite', 'app-webpack-terser'];
