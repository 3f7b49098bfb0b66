// What is known of the call that is pointed at, without delay and always in the same place.

import { useState } from 'preact/hooks';
import { changeOf } from '../tree/colour.ts';
import { cut, percent, signed, visible } from '../widgets/numbers.ts';
import type { FlameProps } from './FlameGraph.tsx';
import { stackText } from './view.ts';

type Props = FlameProps & { node: number; onSelect(node: number): void };

/** One call: its name and place, its times, and what can be done with it. */
export function Details({ tree, node, zoomed, amount, linkOf, title, onSelect }: Props) {
  const frame = tree.frames[tree.frame[node]!];
  const ms = (us: number) => us / 1000 / Math.max(1, tree.views);
  const share = (of: number) => (tree.total[of]! ? tree.total[node]! / tree.total[of]! : 0);
  const link = node ? linkOf?.(node) : undefined;
  return (
    <div class="flame-details">
      <p class="flame-name" role="status">
        <bdi title={frame?.name}>{node ? visible(cut(frame!.name || '(anonymous)', 120)) : title}</bdi>
        {frame?.resource && (
          <span class="quiet">
            {' '}
            <bdi>{visible(cut(frame.resource, 160))}</bdi>
            {frame.line > 0 && `:${frame.line}:${frame.column}`}
          </span>
        )}
      </p>
      <p class="flame-numbers">
        <span>
          self <b>{amount(ms(tree.self[node]!))}</b>
        </span>
        <span>
          total <b>{amount(ms(tree.total[node]!))}</b>
        </span>
        <span>
          <b>{percent(share(0))}</b> of all
        </span>
        {zoomed > 0 && (
          <span>
            <b>{percent(share(zoomed))}</b> of what is shown
          </span>
        )}
        {tree.baseTotal && (
          <span>
            change <b>{signed(changeOf(tree, node))} ms</b>
          </span>
        )}
      </p>
      <p class="flame-actions">
        {zoomed > 0 && (
          <button type="button" onClick={() => onSelect(0)}>
            Show all
          </button>
        )}
        {link && <a href={link}>Callers and callees</a>}
        {node > 0 && <CopyStack text={() => stackText(tree, node)} />}
      </p>
    </div>
  );
}

function CopyStack({ text }: { text: () => string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {copied ? 'Copied' : 'Copy stack'}
    </button>
  );
}
