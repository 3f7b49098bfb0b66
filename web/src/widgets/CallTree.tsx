// Where the call tree of a page is drawn. The one place that knows what draws it.

import { useMemo } from 'preact/hooks';
import { treeOf, type TreeAnswer } from '../tree/tree.ts';
import { Explained } from './Metric.tsx';
import { cut, visible } from './numbers.ts';
import { amount, type Scale } from './unit.ts';

interface Props {
  answer: TreeAnswer;
  scale: Scale;
}

/** The heaviest functions of a call tree, by their own time. */
export function CallTree({ answer, scale }: Props) {
  const functions = useMemo(() => {
    const tree = treeOf(answer);
    const self = new Map<number, number>();
    for (const [node, frame] of tree.frame.entries()) {
      if (frame >= 0) self.set(frame, (self.get(frame) ?? 0) + (tree.self[node] ?? 0));
    }
    return [...self]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 20)
      .map(([frame, us]) => ({ ...tree.frames[frame]!, ms: us / 1000 / Math.max(1, tree.views) }));
  }, [answer]);
  return (
    <ol class="heaviest">
      {functions.map(({ name, resource, line, column, ms }) => (
        <li key={`${name} ${resource} ${line} ${column}`}>
          <bdi>{visible(cut(name || '(anonymous)', 80))}</bdi> <Explained term="self">{amount(ms, scale)}</Explained>
        </li>
      ))}
    </ol>
  );
}
