// What to do while nothing has been received yet.

import { useEffect } from 'preact/hooks';
import { catalog } from '../../api/queries.ts';
import { refreshAll, useQuery } from '../../state/responses.ts';
import { Copy } from '../../widgets/Command.tsx';

const header = 'Document-Policy: js-profiling, js-profiling-mode=lazy';

const script = `<script src="https://PROFILES.EXAMPLE.COM/sdk.js" crossorigin="anonymous"></script>
<script>
  fieldtrie.start({
    url: 'https://PROFILES.EXAMPLE.COM',
    release: '1.0.0',
    sampleRate: 1, // of all page views; 0.05 profiles one in twenty, which is enough for most sites
  });
</script>`;

/** How to send the first trace. The page changes by itself when it is there. */
export function FirstTrace() {
  useQuery(catalog(), 5_000);
  useEffect(() => refreshAll, []); // it goes when there is something
  return (
    <div class="page first">
      <h1>No profiles received yet</h1>
      <p>A page needs two things to send profiles.</p>
      <h2>1. A response header</h2>
      <p>It allows the browser to profile the page.</p>
      <Snippet text={header} />
      <h2>2. The script that the daemon serves at its public address</h2>
      <Snippet text={script} />
      <p>
        Start the daemon with the origin of the site: <code>ingest --allow-origin https://www.example.com</code>. Then open
        the site in Chrome or Edge, click around, and close the tab.
      </p>
      <p class="waits" role="status">
        <span class="bar" /> Waiting for the first page view. This page updates automatically.
      </p>
    </div>
  );
}

function Snippet({ text }: { text: string }) {
  return (
    <div class="command">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} />
    </div>
  );
}
