// Detects the dark theme, because a canvas does not get colours from style sheets.

import { useEffect, useState } from 'preact/hooks';

/**
 * Reports whether the page's text is light, and updates when the theme of the page or system
 * changes.
 */
export function useDark(theme?: string): boolean {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const changed = () => setDark(isDark());
    changed();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', changed);
    const attributes = new MutationObserver(changed);
    attributes.observe(document.documentElement, { attributeFilter: ['class', 'style', 'data-theme'] });
    return () => {
      scheme.removeEventListener('change', changed);
      attributes.disconnect();
    };
  }, [theme]);
  return dark;
}

function isDark(): boolean {
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(document.body).color.match(/[\d.]+/g) ?? []).map(Number);
  return red + green + blue > 380;
}
