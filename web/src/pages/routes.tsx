// Which page each route is.

import type { ComponentType } from 'preact';
import type { Place } from '../state/url.ts';
import { cut } from '../widgets/numbers.ts';
import { BudgetsPage } from './Budgets.tsx';
import { linkTo } from '../state/url.ts';
import { useView } from './context.ts';
import { Overview } from './Overview.tsx';

/** What is shown at a place. */
export interface Route {
  Page: ComponentType;
  title: string;
  /** The parameters that the page is about: they are no filters. */
  subject: readonly string[];
}

/** Returns what is shown at a place. */
export function routeOf({ route, params }: Place): Route {
  const name = (key: string) => cut(params.get(key) || '', 80);
  switch (route) {
    case '':
      return { Page: Overview, title: 'Overview', subject: [] };
    case 'budgets':
      return { Page: BudgetsPage, title: 'Budgets', subject: [] };
    default:
      return { Page: Unknown, title: `No page ${name('page')}`, subject: [] };
  }
}

function Unknown() {
  const { place } = useView();
  return (
    <div class="page">
      <h1>There is no such page</h1>
      <p>
        <a href={linkTo(place, '')}>To the overview</a>
      </p>
    </div>
  );
}
