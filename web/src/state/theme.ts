// Light, dark, or as the system has it. The choice stays on this machine.

import { useEffect, useState } from 'preact/hooks';

/** The theme: of the system, or chosen. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'fieldtrie-theme';

/** Returns what was chosen. */
export function chosenTheme(): Theme {
  try {
    const theme = localStorage.getItem(key);
    return theme == 'light' || theme == 'dark' ? theme : 'system';
  } catch {
    return 'system'; // the browser keeps nothing
  }
}

/** Makes the page look like it. */
export function showTheme(theme: Theme): void {
  if (theme == 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Returns the theme, and how to choose another. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(chosenTheme);
  useEffect(() => {
    showTheme(theme);
    try {
      localStorage.setItem(key, theme);
    } catch {
      // It is forgotten with the page.
    }
  }, [theme]);
  return [theme, setTheme];
}
