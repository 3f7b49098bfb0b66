// The theme: light, dark, or the system's. The choice is stored in the browser.

import { useEffect, useState } from 'preact/hooks';

/** The theme: the system's, or the user's choice. */
export type Theme = 'system' | 'light' | 'dark';

const key = 'fieldtrie-theme';

/** Returns the stored theme. */
export function chosenTheme(): Theme {
  try {
    const theme = localStorage.getItem(key);
    return theme == 'light' || theme == 'dark' ? theme : 'system';
  } catch {
    return 'system'; // storage is not available
  }
}

/** Applies a theme to the page. */
export function showTheme(theme: Theme): void {
  if (theme == 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Returns the theme and its setter. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(chosenTheme);
  useEffect(() => {
    showTheme(theme);
    try {
      localStorage.setItem(key, theme);
    } catch {
      // Without storage, the choice lasts as long as the page.
    }
  }, [theme]);
  return [theme, setTheme];
}
