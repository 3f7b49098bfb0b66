// The pages of the routes.

import type { ComponentType } from 'preact';
import { FunctionPage } from './pages/code/FunctionPage.tsx';
import { Ownership } from './pages/code/Ownership.tsx';
import { Compare } from './pages/compare/Compare.tsx';
import { Audience } from './pages/overview/Audience.tsx';
import { BudgetsPage } from './pages/overview/Budgets.tsx';
import { Features, Pages } from './pages/overview/Lists.tsx';
import { Overview } from './pages/overview/Overview.tsx';
import { FeatureDetail, PageDetail } from './pages/page/Detail.tsx';
import { File } from './pages/page/File.tsx';
import { later } from './pages/views/later.tsx';
import { linkTo, type Place } from './state/url.ts';
import { useView } from './state/view.ts';
import { cut } from './widgets/numbers.ts';

const ChangesPage = later((drawn) => drawn.ChangesPage);
const Health = later((drawn) => drawn.Health);
const Views = later((drawn) => drawn.Views);
const ViewPage = later((drawn) => drawn.ViewPage);

/** A filter above a page. */
export type Filter = 'time' | 'release' | 'labels' | 'unit';

/** The page at a place. */
export interface Route {
  Page: ComponentType;
  title: string;
  /** The parameters that identify the page's subject and are not filters. */
  subject: readonly string[];
  /** The filters that affect the page. */
  filters: readonly Filter[];
}

const every: readonly Filter[] = ['time', 'release', 'labels', 'unit'];
const inMs: readonly Filter[] = ['time', 'release', 'labels']; // for pages whose unit is always ms per page view

/** Returns the page at a place. */
export function routeOf({ route, params }: Place): Route {
  const name = (key: string) => cut(params.get(key) || '', 80);
  switch (route) {
    case '':
      return { Page: Overview, title: 'Overview', subject: [], filters: every };
    case 'pages':
      return { Page: Pages, title: 'Pages', subject: [], filters: every };
    case 'features':
      return { Page: Features, title: 'Features', subject: [], filters: every };
    case 'page':
      return { Page: PageDetail, title: name('page') || 'All pages', subject: ['page'], filters: every };
    case 'feature':
      return { Page: FeatureDetail, title: name('feature') || 'All features', subject: ['feature'], filters: every };
    case 'function':
      return { Page: FunctionPage, title: name('name').trim() || '(anonymous)', subject: [], filters: every };
    case 'compare':
      return { Page: Compare, title: 'Compare', subject: [], filters: inMs };
    case 'audience':
      return { Page: Audience, title: 'Audience', subject: [], filters: every };
    case 'ownership':
      return { Page: Ownership, title: 'Ownership', subject: [], filters: every };
    case 'views':
      return { Page: Views, title: 'Single page views', subject: [], filters: inMs };
    case 'view':
      return { Page: ViewPage, title: 'Page view', subject: [], filters: [] };
    case 'file':
      return { Page: File, title: name('title') || 'Profile', subject: [], filters: [] };
    case 'changes':
      return { Page: ChangesPage, title: 'Changes', subject: ['id', 'state'], filters: [] };
    case 'budgets':
      return { Page: BudgetsPage, title: 'Budgets', subject: [], filters: [] };
    case 'health':
      return { Page: Health, title: 'Health', subject: [], filters: ['time'] };
    default:
      return { Page: Unknown, title: 'Not found', subject: [], filters: [] };
  }
}

function Unknown() {
  const { place } = useView();
  return (
    <div class="page">
      <h1>Page not found</h1>
      <p>
        <a href={linkTo(place, '')}>Go to the overview</a>
      </p>
    </div>
  );
}
