// "As a command": command lines that print the same numbers on a terminal.

import { useState } from 'preact/hooks';
import { commandLines } from '../api/command.ts';
import type { Query } from '../api/queries.ts';
import { Popover } from './Popover.tsx';

/** A button that copies a text. */
export function Copy({ text, children = 'Copy' }: { text: string | (() => string); children?: string }) {
  const [done, setDone] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text == 'string' ? text : text());
      setDone('Copied');
    } catch {
      setDone('Blocked: copy manually');
    }
    setTimeout(() => setDone(''), 2_000);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      <span aria-live="polite">{done || children}</span>
    </button>
  );
}

/** The icon of the command button. */
const sign = (
  <span aria-hidden="true">
    <span class="says">as a command </span>&gt;_
  </span>
);

/** Shows the command lines of a query. */
export function Command({ query }: { query: Query<unknown> }) {
  return (
    <Popover button={sign} label="As a command" class="icon as-command">
      {() => (
        <div class="commands">
          <p>The same numbers in a terminal:</p>
          {commandLines(query, new URL('.', location.href).href).map(({ name, line }) => (
            <div key={name} class="command">
              {name == 'pprof' && <p>As sums over all page views:</p>}
              <pre tabIndex={0} aria-label={name}>
                {line}
              </pre>
              <Copy text={line} />
            </div>
          ))}
        </div>
      )}
    </Popover>
  );
}
