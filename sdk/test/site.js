import { createServer } from 'node:http';

/** The header that allows profiling of a document. */
export const header = { 'Document-Policy': 'js-profiling, js-profiling-mode=lazy' };

/**
 * Keeps the processor busy for a time that it measures itself, and returns it. Hot functions of
 * tests call it.
 */
const spin = `globalThis.spin = function spin(ms) {
  const from = performance.now();
  while (performance.now() - from < ms);
  return performance.now() - from;
};`;

/**
 * @typedef {object} Document
 * @property {string} [sdk] URL of the script
 * @property {string} [tag] a tag that loads it instead
 * @property {Record<string, unknown> | false} [start] options of start(), in addition to the
 *   options of all tests
 * @property {string} [head]
 * @property {string} [body]
 * @property {string[]} [scripts] URLs; all may call spin(ms)
 * @property {Record<string, string>} [headers] instead of the header that allows profiling
 */

/** A server for test pages: another origin than the daemon and other sites. */
export class Site {
  /** @type {Map<string, {text: string, headers: Record<string, string>, delay?: number}>} */
  #files = new Map([['/favicon.ico', { text: '', headers: {} }]]);
  /** Delay of responses in ms. */
  delay = 0;
  #server = createServer((request, response) => {
    const file = this.#files.get(new URL(request.url ?? '', 'http://site').pathname);
    response.writeHead(file ? 200 : 404, file?.headers);
    setTimeout(() => response.end(file?.text), this.delay + (file?.delay ?? 0));
  });

  /** @param {string} [collector] the collector of its pages */
  static async start(collector = '') {
    const site = new Site();
    site.collector = collector;
    site.script('/spin.js', spin);
    await new Promise((resolve) => site.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return site;
  }

  get host() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  /** @param {string} path */
  url(path) {
    return `http://${this.host}${path}`;
  }

  /**
   * Serves a script: a text, or the source of a function that it calls.
   * @param {string} path
   * @param {string | (() => void)} script
   */
  script(path, script) {
    const text = typeof script == 'function' ? `(${script})();` : script;
    this.#files.set(path, { text, headers: { 'Content-Type': 'text/javascript; charset=utf-8' } });
    return path;
  }

  /**
   * Serves an image after a delay. Its size in bytes is large enough for the browser to count it as
   * content.
   * @param {string} path
   * @param {number} [delay] ms
   */
  image(path, delay) {
    const text =
      `<svg xmlns="http://www.w3.org/2000/svg" width="700" height="400"><rect width="700" ` +
      `height="400" fill="teal"/>${' '.repeat(40000)}</svg>`;
    this.#files.set(path, { text, headers: { 'Content-Type': 'image/svg+xml' }, delay });
    return this.url(path);
  }

  /**
   * Serves a page that loads the SDK, starts it and then runs scripts.
   * @param {string} path
   * @param {Document} [document]
   */
  page(
    path,
    {
      sdk = this.collector + '/sdk-all.js',
      tag,
      start = {},
      head = '',
      body = '',
      scripts = [],
      headers = header,
    } = {},
  ) {
    // Tests run on slow machines, where profiling may exceed the default maximum cost.
    const options = JSON.stringify({ url: this.collector, sampleRate: 1, maxCost: 1, ...start });
    const text = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Test</title>
${head}
${tag ?? `<script src="${sdk}" crossorigin="anonymous"></script>`}
${start ? `<script>fieldtrie.start(${options})</script>` : ''}
<body>
${body}
${['/spin.js', ...scripts].map((src) => `<script src="${src}"></script>`).join('\n')}
</body>
</html>`;
    return this.html(path, text, headers);
  }

  /**
   * Serves a document as it is.
   * @param {string} path
   * @param {string} text
   * @param {Record<string, string>} headers
   */
  html(path, text, headers) {
    this.#files.set(path, { text, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers } });
    return this.url(path);
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
