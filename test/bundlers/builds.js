/**
 * An app and its bundler. Commands are run in a copy of the app two folders below this one.
 * @typedef {object} Build
 * @property {string} name starts with the app
 * @property {string} app its folder
 * @property {string[]} command a program of node_modules/.bin or node, and arguments
 * @property {boolean} [large] only built on request, because it takes long to install
 * @property {string} [project] a folder with its own packages, and further files of the app
 * @property {string} [packages] a folder with its own packages, and no files
 * @property {string} [dist] the output folder for scripts, relative to the app
 * @property {string} [base] path of the URLs of scripts
 * @property {string} [document] the page, relative to the app; without it, one is made that loads
 *   the scripts
 */

/** The packages in the bundles of an app. */
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
  {
    name: 'app-webpack-terser',
    app: 'app',
    command: ['webpack', '--config', '../../webpack-terser/webpack.config.js'],
  },
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

/** Builds of which the next release is also built, with app-next.patch. */
export const releases = ['app-vite', 'app-webpack-terser'];
