// Instructions before the first trace is received.

import { useEffect, useState } from 'preact/hooks';
import { arrivals, catalog } from '../../api/queries.ts';
import { refreshAll, useQuery } from '../../state/responses.ts';
import { Copy } from '../../widgets/Command.tsx';
import { missing } from './missing.ts';
import { headers, scripts, type Snippet } from './snippets.ts';

/** An example address, for the case that the daemon's public address is unknown. */
const somewhere = { url: 'https://profiles.example.com' };

/**
 * Instructions for the first trace, and what is missing for it. The page updates when the trace
 * arrives.
 */
export function FirstTrace() {
  useQuery(catalog(), 2_000);
  const { response, problem } = useQuery(arrivals(), 2_000);
  useEffect(() => refreshAll, []); // the page is replaced when there is data
  const to = response ?? (problem && somewhere);
  return (
    <div class="page first">
      <h1>No profiles received yet</h1>
      <section class="arrivals" role="status">
        {response &&
          missing(response).map((one) => (
            <p key={one.seen}>
              <b>{one.seen}</b> {one.fix} {one.command && <code>{one.command}</code>}
            </p>
          ))}
        <p class="waits">
          <span class="bar" />
          {response?.traces
            ? 'The first page view has arrived. It appears within seconds.'
            : 'Waiting for the first page view. This page updates automatically.'}
        </p>
      </section>
      <h2>1. Add a response header, which allows the browser to profile the page</h2>
      <Snippets name="Server" all={headers} />
      <h2>2. Add the script, which the daemon serves at its public address</h2>
      {to && <Snippets name="Script" all={scripts(to)} />}
      {response && !response.configured && (
        <p>
          {response.url} is an address of this machine only. For an HTTPS site, put the daemon behind a TLS proxy and
          start it with <code>--public-url https://profiles.example.com</code>; the script above then contains that
          address.
        </p>
      )}
      <h2>3. Visit the site</h2>
      <p>
        Open the site in Chrome or Edge, click around, and close the tab. For a public site, start the daemon with the
        origins that may send profiles, such as <code>--allow-origin https://www.example.com</code>. Otherwise, any site
        may send profiles.
      </p>
    </div>
  );
}

/** Shows one of several snippets, with a choice. */
function Snippets({ name, all }: { name: string; all: readonly Snippet[] }) {
  const [chosen, choose] = useState(0);
  const { where, first, text, note } = all[chosen]!;
  return (
    <div class="snippets">
      <div class="choice" role="group" aria-label={name}>
        {all.map((one, i) => (
          <button key={one.name} type="button" aria-pressed={i == chosen} onClick={() => choose(i)}>
            {one.name}
          </button>
        ))}
      </div>
      <p>{where}</p>
      {[first, text].map(
        (one) =>
          one && (
            <div key={one} class="command">
              <pre tabIndex={0}>{one}</pre>
              <Copy text={one} />
            </div>
          ),
      )}
      {note && <p>{note}</p>}
    </div>
  );
}
