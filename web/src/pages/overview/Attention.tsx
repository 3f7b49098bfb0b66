// What needs somebody now: budgets that are blown, and changes that are more than noise.

import { budgets, byRelease, catalog, compare, list } from '../../api/queries.ts';
import type { OtherSide, Selection } from '../../api/selection.ts';
import type { Budget, Comparison } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { releasesOf } from '../../widgets/lines.ts';
import { State } from '../../widgets/Notice.tsx';
import { signed } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { pairOf } from '../compare/releases.ts';
import { beginning, changedFunctions, shown as shownOf, sure, verdictOf } from '../compare/verdict.ts';
import { FunctionLink, PlaceLink, Text } from '../parts/names.tsx';
import { budgetLimit, budgetValue } from './Budgets.tsx';

/** How many changes are listed. */
const mostChanges = 4;

/** How many pages are compared one by one: those with the most time. */
const mostPages = 8;

/** What needs somebody now. */
export function Attention() {
  return (
    <Panel title="What needs attention" class="attention">
      <Blown />
      <SinceRelease />
    </Panel>
  );
}

function Blown() {
  const { place } = useView();
  const shown = useQuery(budgets());
  if (shown.problem?.status == 404) {
    return (
      <p class="item quiet">
        No budgets yet. <a href={linkTo(place, 'budgets')}>How to add one</a>
      </p>
    );
  }
  if (!shown.response) return <State of={shown} />;
  const blown = shown.response.budgets.filter((budget) => budget.blown);
  if (!blown.length) return <p class="item">All {shown.response.budgets.length} budgets are met.</p>;
  return (
    <ul class="items">
      {blown.map((budget) => (
        <BlownBudget key={budget.name} budget={budget} />
      ))}
    </ul>
  );
}

function BlownBudget({ budget }: { budget: Budget }) {
  const { place } = useView();
  const { page = '', feature = '' } = budget;
  const route = feature ? 'feature' : page && !page.includes('*') ? 'page' : 'budgets';
  return (
    <li class="item">
      <span class="status blown">budget blown</span>{' '}
      <a href={linkTo(place, route, { page, feature, since: budget.since })}>
        <Text>{budget.name}</Text>
      </a>
      : {budgetValue(budget)} of {budgetLimit(budget)}
      {!budget.sure && ', which may be by chance'}
    </li>
  );
}

function SinceRelease() {
  const { place, selection, to } = useView();
  const releases = useQuery(byRelease(selection));
  const { response: stored } = useQuery(catalog());
  const names = releasesOf(stored, selection.page).map(({ name }) => name);
  const pair = pairOf(releases.response, selection.release, to, names);
  const other = pair && { release: pair.before };
  const after = pair && { ...selection, release: pair.after };
  const shown = useQuery(after && other && compare(after, other, { limit: 50, method: 'sums' }));
  const pages = useQuery(after && !selection.page ? list('pages', after, mostPages) : undefined);
  if (!releases.response || !stored) return null;
  if (!pair || !after || !other) return <p class="item quiet">Changes are shown as soon as two releases have page views.</p>;
  const href = linkTo(place, 'compare', { release: pair.after, compare_release: pair.before });
  return (
    <div class="since">
      <h3>
        <a href={href}>
          Release <Text length={30}>{pair.after}</Text> against <Text length={30}>{pair.before}</Text>
        </a>
      </h3>
      <State of={shown} />
      {shown.response && <Changes of={shown.response} href={href} />}
      {pages.response && (
        <ul class="items">
          {pages.response.values.map(({ value }) => (
            <ChangedPage key={value} page={value} after={after} other={other} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** A page, if it changed by more than noise. */
function ChangedPage({ page, after, other }: { page: string; after: Selection; other: OtherSide }) {
  const { place } = useView();
  const { response } = useQuery(compare({ ...after, page }, other, { limit: 1, method: 'sums' }));
  if (!response?.enough || !sure.includes(response.total.status)) return null;
  const { value } = shownOf(response.total);
  const href = linkTo(place, 'compare', { page, release: after.release, compare_release: other.release });
  return (
    <li class="item change">
      <span class={`status ${response.total.status}`}>{response.total.status}</span>
      <PlaceLink kind="page" name={page} />
      <a href={href} class={value > 0 ? 'slower' : 'faster'}>
        {signed(value)} ms
      </a>
    </li>
  );
}

function Changes({ of, href }: { of: Comparison; href: string }) {
  const verdict = verdictOf(of);
  const changed = changedFunctions(of);
  return (
    <>
      <p class={`item verdict ${verdict.status.replaceAll(' ', '-')}`}>
        <strong>{beginning[verdict.status]}</strong>
        {verdict.sentence}
      </p>
      <ul class="items">
        {changed.slice(0, mostChanges).map((change) => (
          <li key={`${change.name} ${change.resource} ${change.line}`} class="item change">
            <span class={`status ${change.status}`}>{change.status}</span>
            <FunctionLink of={change} href={change.source_url} />
            <span class={shownOf(change).value > 0 ? 'slower' : 'faster'}>{signed(shownOf(change).value)} ms</span>
          </li>
        ))}
      </ul>
      {changed.length > mostChanges && <a href={href}>{changed.length - mostChanges} more</a>}
    </>
  );
}
