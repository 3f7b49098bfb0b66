// Explanations and small forms that open at a button, above everything else. Escape and a click
// elsewhere close them.

import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

interface Props {
  /** The content of the button. */
  button: ComponentChildren;
  /** The accessible name of the button, if its content is not one. */
  label?: string;
  class?: string;
  /** The content, drawn when it opens. */
  children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

/** A button that opens a panel. */
export function Popover({ button, label, class: name, children }: Props) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const toggle = (event: { newState: string }) => {
    const opens = event.newState == 'open';
    setOpen(opens);
    if (opens) requestAnimationFrame(() => put(panel.current, opener.current));
  };
  const close = () => {
    panel.current?.hidePopover();
    opener.current?.focus();
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={name}
        aria-label={label}
        title={label}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => panel.current?.togglePopover()}
      >
        {button}
      </button>
      <div ref={panel} id={id} class="popover" popover="auto" onToggle={toggle}>
        {open && (typeof children == 'function' ? children(close) : children)}
      </div>
    </>
  );
}

/** Positions a panel in the window: below a button, or above it if there is more room. */
function put(panel: HTMLElement | null, opener: HTMLElement | null): void {
  if (!panel || !opener) return;
  const at = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = panel;
  const below = innerHeight - at.bottom;
  const y = below < height + 12 && at.top > below ? at.top - height - 6 : at.bottom + 6;
  panel.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
  panel.style.top = `${Math.max(8, y)}px`;
}
