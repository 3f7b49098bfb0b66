// Functions without a width in a comparison, because only the other side has them.

import { useMemo } from 'preact/hooks';
import { fullPlaceOf, nameOf } from '../tree/format.ts';
import { functionsOf } from '../tree/functions.ts';
import type { Tree } from '../tree/tree.ts';
import type { Numbers } from './numbers.ts';

/** Maximum number of listed functions. */
const most = 50;

/** Lists the functions that took time before and take none now. */
export function Removed({ tree, numbers }: { tree: Tree; numbers: Numbers }) {
  const removed = useMemo(() => {
    const gone = functionsOf(tree).filter(({ total, baseTotal }) => total == 0 && baseTotal > 0);
    return gone.sort((a, b) => b.baseSelf - a.baseSelf || b.baseTotal - a.baseTotal);
  }, [tree]);
  if (removed.length == 0) return null;
  const self = removed.reduce((sum, { baseSelf }) => sum + baseSelf, 0);
  return (
    <details class="flame-removed">
      <summary>
        {removed.length == 1 ? '1 function is gone' : `${removed.length} functions are gone`}: ▼ −
        {numbers.baseAmount(self)}
      </summary>
      <ul>
        {removed.slice(0, most).map(({ frame, baseSelf }) => (
          <li key={frame}>
            <bdi>{nameOf(tree.frames[frame]!, 120)}</bdi>
            <span class="flame-place">
              <bdi>{fullPlaceOf(tree.frames[frame]!)}</bdi>
            </span>
            <span class="flame-amount">−{numbers.baseAmount(baseSelf)}</span>
          </li>
        ))}
        {removed.length > most && <li>and {removed.length - most} more</li>}
      </ul>
    </details>
  );
}
