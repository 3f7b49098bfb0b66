// A dialog that lists the keys.

import { useEffect, useRef } from 'preact/hooks';
import { keyList } from './keys.ts';

/** Shows the keys until it is closed. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog class="flame-dialog" ref={dialog} aria-labelledby="flame-keys" onClose={onClose}>
      <h2 id="flame-keys">Keys of the flame graph</h2>
      <dl>
        {keyList.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="flame-button" onClick={() => dialog.current!.close()}>
        Close
      </button>
    </dialog>
  );
}
