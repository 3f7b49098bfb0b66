import { createServer } from 'node:http';

/** What lets a document be profiled. */
export const header = { 'Document-Policy': 'js-profiling, js-profiling-mode=lazy' };

/** Busy for a time that it measures itself, and returns. Hot functions of tests call it. */
const spin = `globalThis.spin = function spin(ms) {
  const from = performance.now();
  while (performance.now() - from < ms);
  return performance.now() - from;
};`;

/**
 * @typedef {object} Document
 * @property {string} [sdk] URL of the script
 * @property {string} [tag] the tag that loads it, in its place
 * @property {Record<string, unknown> | false} [start] options of start(), beside those that all tests have
 * @property {string} [head]
 * @property {string} [body]
 * @property {string[]} [scripts] URLs; all may call spin(ms)
 * @property {Record<string, string>} [headers] in place of those that let it be profiled
 */

/** A server for test pages: another origin than the daemon and other sites. */
export class Site {
  /** @type {Map<string, {text: string, headers: Record<string, string>, delay?: number}>} */
  #files = new Map([['/favicon.ico', { text: '', headers: {} }]]);
  /** ms that the server takes to answer. */
  delay = 0;
  #server = createServer((request, response) => {
    const file = this.#files.get(new URL(request.url ?? '', 'http://site').pathname);
    response.writeHead(file ? 200 : 404, file?.headers);
    setTimeout(() => response.end(file?.text), this.delay + (file?.delay ?? 0));
  });

  /** @param {string} [collector] where its pages send */
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
   * Serves a script, as text or as a function that is called.
   * @param {string} path
   * @param {string | (() => void)} script
   */
  script(path, script) {
    const text = typeof script == 'function' ? `(${script})();` : script;
    this.#files.set(path, { text, headers: { 'Content-Type': 'text/javascript; charset=utf-8' } });
    return path;
  }

  /**
   * Serves an image, which comes after a delay. It has bytes enough for its area to count as content.
   * @param {string} path
   * @param {number} [delay] ms
   */
  image(path, delay) {
    const text = `<svg xmlns="http://www.w3.org/2000/svg" width="700" height="400"><rect width="700" height="400" fill="teal"/>${' '.repeat(40000)}</svg>`;
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
    { sdk = this.collector + '/sdk-all.js', tag, start = {}, head = '', body = '', scripts = [], headers = header } = {},
  ) {
    // Tests run on slow machines, and are not about what profiling may cost.
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
