// The dashboard: shows the page for the URL and keeps its numbers up to date.

import './style.css';
import { render } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { routeOf } from './routes.tsx';
import { Shell } from './pages/shell/Shell.tsx'; // after the pages: styles of the shell must come last
import { followLinks, usePlace } from './state/location.ts';
import { keepFresh, useMinute } from './state/responses.ts';
import { slashSearches } from './state/slash.ts';
import { chosenTheme, showTheme } from './state/theme.ts';
import { viewOf, ViewContext } from './state/view.ts';

function App() {
  const place = usePlace();
  const now = useMinute();
  const view = useMemo(() => viewOf(place, now), [place, now]);
  useEffect(followLinks, []);
  useEffect(keepFresh, []);
  useEffect(slashSearches, []);
  const { Page, title, subject, filters } = routeOf(place);
  return (
    <ViewContext.Provider value={view}>
      <Shell title={title} subject={subject} filters={filters}>
        <Page key={place.route} />
      </Shell>
    </ViewContext.Provider>
  );
}

showTheme(chosenTheme());
render(<App />, document.body);
