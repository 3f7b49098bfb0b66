// node record-trace.js FILE MB
//
// Records a trace of about MB megabytes with samples, like the Performance panel of DevTools, from
// a page that compiles TypeScript and shows the results.
import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { chromium } from 'playwright-core';
import { launch } from '../../chromium/launch.mjs';

const [file, mb] = [process.argv[2], Number(process.argv[3])];
const require = createRequire(import.meta.url);

const categories = [
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
  'disabled-by-default-devtools.timeline.stack',
  'disabled-by-default-v8.compile',
  'disabled-by-default-v8.cpu_profiler',
  ...(mb < 40 ? [] : ['disabled-by-default-v8.cpu_profiler.hires']),
  'v8.execute',
  'v8',
  'blink.user_timing',
  'blink.console',
  'latencyInfo',
  'loading',
];

/** Runs in the page: compiles for a time in ms, in separate tasks, and shows each result. */
async function work(ms, files) {
  const ts = globalThis.ts;
  const until = performance.now() + ms;
  const names = Object.keys(files);
  const list = document.createElement('ol');
  document.body.replaceChildren(list);
  const target = new EventTarget();
  const compile = (name) => {
    performance.mark('start');
    const host = {
      fileExists: (f) => f in files,
      readFile: (f) => files[f],
      getSourceFile: (f, version) => (f in files ? ts.createSourceFile(f, files[f], version) : undefined),
      getDefaultLibFileName: () => 'lib.es5.d.ts',
      getCurrentDirectory: () => '',
      getCanonicalFileName: (f) => f,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile() {},
    };
    const options = {
      allowJs: true,
      checkJs: true,
      target: ts.ScriptTarget.ES2022,
      noLib: false,
      types: [],
      noEmit: false,
      outDir: 'out',
    };
    const program = ts.createProgram([name], options, host);
    const found = ts.getPreEmitDiagnostics(program).length;
    program.emit();
    performance.measure(`compile ${name}`, 'start');
    return found;
  };
  let round = 0;
  target.addEventListener('next', () => {
    const name = names[round % names.length];
    const item = document.createElement('li');
    item.textContent = `${name}: ${compile(name)}`;
    list.append(item);
    for (let i = 0; i < 50; i++) {
      const box = document.createElement('div');
      box.style.cssText = `height:${i + 1}px;width:${i * 7 + 1}px;background:hsl(${i * 7} 50% 50%)`;
      item.append(box);
      if (i % 10 == 0) list.offsetHeight; // layout
    }
    if (list.childElementCount > 20) list.firstChild.remove();
  });
  for (; performance.now() < until; round++) {
    target.dispatchEvent(new Event('next'));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    await Promise.resolve();
  }
  return round;
}

const browser = await launch(chromium);
try {
  const files = {};
  const lib = require.resolve('typescript').replace(/typescript\.js$/, '');
  files['lib.es5.d.ts'] = ['lib.es5.d.ts', 'lib.decorators.d.ts', 'lib.decorators.legacy.d.ts']
    .map((name) => String(readFileSync(lib + name)).replace(/^\/\/\/ <reference lib.*$/gm, ''))
    .join('\n');
  const source = String(readFileSync(lib + 'typescript.js'));
  const part = Math.min(150_000, 3000 * mb); // of the compiler's own source, so that a round takes about a second
  for (let at = source.indexOf('\nfunction '), i = 0; i < 6; i++) {
    const end = source.indexOf('\nfunction ', at + part);
    files[`part${i}.js`] = source.slice(at, end);
    at = end;
  }
  /** Records a trace for a time in ms into a file. */
  const record = async (ms, file) => {
    const context = await browser.newContext(); // with nothing compiled yet
    const page = await context.newPage();
    await page.route('http://bench.test/**', (route) =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: source })
        : route.fulfill({
            contentType: 'text/html',
            body: '<!doctype html><title>bench</title><body><script src="typescript.js"></script>',
          }),
    );
    await page.goto('http://bench.test/');
    const cdp = await context.newCDPSession(page); // so that the trace has the URL of the page
    await cdp.send('Tracing.start', {
      transferMode: 'ReturnAsStream',
      traceConfig: {
        recordMode: 'recordUntilFull',
        traceBufferSizeInKb: 1_200_000,
        includedCategories: categories,
        excludedCategories: ['*'],
      },
    });
    const rounds = await page.evaluate(`(${work})(${ms}, ${JSON.stringify(files)})`);
    const complete = once(cdp, 'Tracing.tracingComplete');
    await cdp.send('Tracing.end');
    const [{ stream, dataLossOccurred }] = await complete;
    if (dataLossOccurred) throw new Error('the trace is larger than the buffer');
    const out = createWriteStream(file);
    for (;;) {
      const { data, eof, base64Encoded } = await cdp.send('IO.read', { handle: stream, size: 1 << 20 });
      if (!out.write(base64Encoded ? Buffer.from(data, 'base64') : data)) await once(out, 'drain');
      if (eof) break;
    }
    out.end();
    await once(out, 'finish');
    await cdp.detach();
    await context.close();
    console.error(`${rounds} rounds in ${ms} ms: ${(statSync(file).size / 1e6).toFixed(1)} MB`);
    return statSync(file).size;
  };
  let ms = mb * 200;
  for (let tries = 0; tries < 3; tries++) {
    const share = (await record(Math.round(ms), file)) / (mb * 1e6);
    if (Math.abs(share - 1) < 0.25) break;
    ms /= share ** 1.2; // the longer it runs, the less is new
  }
} finally {
  await browser.close();
}
