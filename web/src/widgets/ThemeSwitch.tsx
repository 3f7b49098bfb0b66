// A button that switches between the light, the dark and the system's theme.

import { useTheme, type Theme } from '../state/theme.ts';

const themes: Record<Theme, { next: Theme; icon: string; name: string }> = {
  system: { next: 'light', icon: '◐', name: 'system' },
  light: { next: 'dark', icon: '☀', name: 'light' },
  dark: { next: 'system', icon: '☾', name: 'dark' },
};

export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  const { next, icon, name } = themes[theme];
  const label = `Theme: ${name}. Change to ${themes[next].name}`;
  return (
    <button type="button" class="icon" aria-label={label} title={label} onClick={() => setTheme(next)}>
      <span aria-hidden="true">{icon}</span>
    </button>
  );
}
