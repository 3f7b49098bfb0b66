// Random pages that shadow, freeze, patch and throw: combinations of accidents on real sites.

/**
 * @typedef {object} Hostile
 * @property {string[]} traits names of the hostile features, for messages
 * @property {string} file the script that it loads
 * @property {string} before runs before the script is loaded
 * @property {string} options further options of start(), as source code
 * @property {string} after runs when the page has its elements
 * @property {string} top first part of the body
 * @property {string} button attributes of the button
 * @property {string} inputs of the form that contains the button
 * @property {Record<string, string>} headers
 */

const names = [
  'id',
  'role',
  'closest',
  'localName',
  'getAttribute',
  'dataset',
  'nodeType',
  'parentElement',
  'append',
  'then',
  'call',
];

const ids = [
  '550e8400-e29b-41d4-a716-446655440000',
  'row-٣٤٥٦٧',
  'u-0a1b2c3d4e5f60718293',
  'x'.repeat(500),
  '"><img src=x>',
  '🙂'.repeat(50),
  '__proto__',
  ' ',
  '%',
];

/**
 * Hostile features by name, with their additions to a page.
 * @type {Record<string, (one: <T>(list: T[]) => T) => Partial<Hostile>>}
 */
const traits = {
  formInputs: (one) => ({
    inputs: `<input type="hidden" name="${one(names)}" value="17"><input type="hidden" name="id">`,
  }),
  documentNames: (one) => ({
    top: `<form name="${one(['hidden', 'visibilityState', 'head', 'prerendering', 'body', 'title'])}"></form>`,
  }),
  windowIds: (one) => ({
    top: `<p id="${one(['navigation', 'fetchLater', 'Profiler', 'origin', 'labels'])}">named</p>`,
  }),
  ownId: () => ({ before: `document.currentScript.id = 'fieldtrie';` }),
  oddId: (one) => ({ after: `b.id = ${JSON.stringify(one(ids))};` }),
  oddName: (one) => ({
    after: `b.dataset.fieldtrie = ${one([
      `'n'.repeat(59) + '🙂 tail'`,
      `'x\\ud83d y\\u0000z\\nq'`,
      `'{"a":1}'`,
      `'  '`,
    ])};`,
  }),
  objectToJSON: () => ({ before: `Object.prototype.toJSON = function () { return 'site'; };` }),
  arrayToJSON: () => ({ before: `Array.prototype.toJSON = function () { return 'site'; };` }),
  objectMore: () => ({
    before: `Object.prototype.extra = function () {}; Array.prototype.last = function () { return this.at(-1); };`,
  }),
  frozen: (one) => ({
    before: `for (const type of [${one([
      'Object, Array',
      'Element, Node',
      'EventTarget',
      'Promise, Function',
      'PerformanceObserver',
    ])}]) Object.freeze(type.prototype);`,
  }),
  elementThrows: (one) => ({
    before: `Element.prototype.${one(['getAttribute', 'closest'])} = () => { throw new Error('site') };`,
  }),
  elementReturns: (one) => ({
    before: `Element.prototype.${one(['getAttribute', 'closest'])} = () => ({ slice: 1, replace: 2 });`,
  }),
  elementGetter: (one) => ({
    before:
      `Object.defineProperty(Element.prototype, '${one(['id', 'localName', 'role'])}', { get() { throw new ` +
      `Error('site') } });`,
  }),
  random: (one) => ({ before: `Math.random = () => ${one(['0', '0.999999'])};` }),
  wrapped: () => ({
    before: `for (const name of ['fetch', 'setTimeout', 'requestAnimationFrame']) { const real = window[name];
      window[name] = function (...all) { return real.apply(window, all) }; }
      const add = EventTarget.prototype.addEventListener;
      EventTarget.prototype.addEventListener = function (type, work, ...more) { return add.call(this, type, work &&
        function (event) { return work.call(this, event) }, ...more) };`,
  }),
  noIdle: () => ({ before: `delete window.requestIdleCallback;` }),
  noStorage: () => ({
    before: `Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('site') } });`,
  }),
  noFetch: (one) => ({ before: `window.fetch = () => { ${one(['', `throw new Error('site')`, `return 5`])} };` }),
  noLater: () => ({ headers: { 'Permissions-Policy': 'deferred-fetch=(), deferred-fetch-minimal=()' } }),
  pageOdd: (one) => ({
    options: `page: ${one([
      `() => 5`,
      `() => ({ a: 1 })`,
      `async () => 'x'`,
      `() => { throw new Error('site') }`,
      `() => Symbol('x')`,
      `() => {}`,
      `7`,
      `() => Object.create(null)`,
    ])},`,
  }),
  labelsOdd: (one) => ({
    options: `labels: ${one([
      `{ get plan() { throw new Error('site') }, ok: 1 }`,
      `{ '': 'e', ok: 1 }`,
      `Object.fromEntries(Array.from({ length: 300 }, (_, i) => ['label' + i, i]))`,
      `{ a: Symbol('s'), b: 1n, c() {}, d: null, e: Object.create(null), f: NaN, g: { toString() {
        throw new Error('site') } } }`,
      `new Proxy({}, { ownKeys() { return ['a', 'b'] }, getOwnPropertyDescriptor() { return { enumerable: true,
        configurable: true } }, get() { throw new Error('site') } })`,
      `{ ['k'.repeat(900)]: 'v'.repeat(9000), 'a\\nb': 'c\\u0000d', 'a=b': 'c=d', größe: '👍', lone: '\\ud83d' }`,
      `null`,
      `'text'`,
    ])},`,
  }),
  features: (one) => ({
    after: `const { feature } = fieldtrie;
      ${one([
        `class Query { then(a, b) { window.sent = (window.sent ?? 0) + 1; return Promise.resolve(1).then(a, b) } }
         (async () => { await feature('query', () => new Query());
           if (window.sent != 1) console.error('sent ' + window.sent + ' times') })();`,
        `feature('proxy', () => new Proxy({}, { get() { throw new Error('site') }, getPrototypeOf() {
          throw new Error('site') } }));`,
        `feature('frozen', () => Object.freeze({ then() { throw new Error('site') } }));`,
        `try { feature('throws', () => { throw new TypeError('site') }) } catch (error) {
          if (!/site/.test(error)) console.error('another error: ' + error) }`,
        `feature('rejects', () => Promise.reject(new Error('site'))).catch(() => {});`,
        `feature(Symbol('x')).end(); feature({ a: 1 }).end(); feature(undefined, () => null);`,
        `class Late extends Promise { then() { throw new Error('site') } } feature('late', () => new Late(() => {}));`,
      ])}`,
  }),
  noHead: () => ({ before: `document.currentScript.remove(); document.head.remove();` }),
  opened: () => ({
    // Code between the loader and its parts removes the link that loads them.
    after: `const open = () => { const html = document.querySelector('#all').outerHTML; document.open();
      document.write(html); document.close(); globalThis.ready(); };
      const wait = () => (globalThis.loaded() ? setTimeout(open, 50) : setTimeout(wait, 50)); wait();`,
  }),
  events: () => ({
    after: `for (const to of [window, document, document.createTextNode('x'),
      new EventTarget()]) for (const type of ['click', 'keydown', 'visibilitychange', 'pageshow', 'error'])
      to.dispatchEvent(new Event(type, { bubbles: true }));`,
  }),
  leaves: () => ({
    after:
      `document.querySelector('#all').addEventListener('pointerdown', () => ` +
      `document.querySelector('#top')?.remove());`,
  }),
  again: () => ({
    after: `fieldtrie.start({}); fieldtrie.page(Symbol.iterator.description); fieldtrie.keep?.(Symbol('x'));`,
  }),
};

/** Features that interfere with each other's checks: a page has at most one of each list. */
const either = [
  ['noFetch', 'noLater', 'frozen'], // otherwise no data can be sent
  ['elementThrows', 'elementReturns', 'elementGetter', 'frozen'],
  ['objectToJSON', 'frozen'],
  ['arrayToJSON', 'frozen'],
  ['objectMore', 'frozen'],
  ['wrapped', 'frozen'],
];

/**
 * Returns a random page.
 * @param {() => number} chance
 * @returns {Hostile}
 */
export function hostile(chance) {
  /** @type {<T>(list: T[]) => T} */
  const one = (list) => list[Math.floor(chance() * list.length)];
  const drawn = new Set(Array.from({ length: 1 + Math.floor(chance() * 6) }, () => one(Object.keys(traits))));
  for (const list of either) for (const name of list.filter((name) => drawn.has(name)).slice(1)) drawn.delete(name);
  /** @type {Hostile} */
  const page = {
    traits: [...drawn],
    file: one(['/sdk.js', '/sdk-all.js', '/sdk-all.js']),
    before: '',
    options: '',
    after: '',
    top: '',
    button: '',
    inputs: '',
    headers: {},
  };
  for (const name of page.traits)
    for (const [key, more] of Object.entries(traits[name](one)))
      if (key == 'headers') Object.assign(page.headers, more);
      else page[key] += more + '\n';
  return page;
}
