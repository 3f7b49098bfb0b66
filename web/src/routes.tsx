// Which page each route is.

import type { ComponentType } from 'preact';
import { Code } from './pages/code/Code.tsx';
import { FunctionPage } from './pages/code/FunctionPage.tsx';
import { Compare } from './pages/compare/Compare.tsx';
import { Health } from './pages/health/Health.tsx';
import { BudgetsPage } from './pages/overview/Budgets.tsx';
import { Features, Pages } from './pages/overview/Lists.tsx';
import { Overview } from './pages/overview/Overview.tsx';
import { Who } from './pages/overview/Who.tsx';
import { FeatureDetail, PageDetail } from './pages/page/Detail.tsx';
import { File } from './pages/page/File.tsx';
import { later } from './pages/views/later.tsx';
import { linkTo, type Place } from './state/url.ts';
import { useView } from './state/view.ts';
import { cut } from './widgets/numbers.ts';

const Views = later((drawn) => drawn.Views);
const ViewPage = later((drawn) => drawn.ViewPage);

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
    case 'pages':
      return { Page: Pages, title: 'Pages', subject: [] };
    case 'features':
      return { Page: Features, title: 'Features', subject: [] };
    case 'page':
      return { Page: PageDetail, title: name('page') || 'All pages', subject: ['page'] };
    case 'feature':
      return { Page: FeatureDetail, title: name('feature') || 'All features', subject: ['feature'] };
    case 'function':
      return { Page: FunctionPage, title: name('name').trim() || '(anonymous)', subject: [] };
    case 'compare':
      return { Page: Compare, title: 'What changed', subject: [] };
    case 'who':
      return { Page: Who, title: 'For whom it is slow', subject: [] };
    case 'code':
      return { Page: Code, title: 'Whose code it is', subject: [] };
    case 'views':
      return { Page: Views, title: 'Single page views', subject: [] };
    case 'view':
      return { Page: ViewPage, title: 'A page view', subject: [] };
    case 'file':
      return { Page: File, title: name('title') || 'Profile', subject: [] };
    case 'budgets':
      return { Page: BudgetsPage, title: 'Budgets', subject: [] };
    case 'health':
      return { Page: Health, title: 'Health', subject: [] };
    default:
      return { Page: Unknown, title: 'No such page', subject: [] };
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
