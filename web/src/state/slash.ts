// The key / moves the focus to the search of a page.

/**
 * Focuses the first search box of the page on an unhandled slash key; returns a function to stop.
 */
export function slashSearches(): () => void {
  const press = (event: KeyboardEvent) => {
    const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
    if (key != '/' || defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (target instanceof Element && target.matches('input, select, textarea, [contenteditable]')) return;
    const box = document.querySelector<HTMLElement>('main input[type=search]');
    if (!box) return;
    event.preventDefault();
    box.focus();
  };
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}
