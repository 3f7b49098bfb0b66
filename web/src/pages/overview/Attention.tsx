// Open changes, blown budgets, and the changes of the newest release.

import { useEffect, useState } from 'preact/hooks';
import { budgets, changes, compare, list, newest } from '../../api/queries.ts';
import type { OtherSide, Selection } from '../../api/selection.ts';
import type { Budget, Comparison, FoundChange } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { State } from '../../widgets/Notice.tsx';
import { moment, signed } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { amountOf, shownOf as shownChange, sinceOf, textOf, urgent } from '../changes/words.ts';
import { beginning, changedFunctions, sure, verdictOf } from '../compare/verdict.ts';
import { FunctionLink, PlaceLink, Text } from '../parts/names.tsx';
import { budgetLimit, budgetValue } from './Budgets.tsx';

/** The number of listed changes. */
const mostChanges = 4;

/**
 * The interval of queries until the evaluation is recent, and the maximum age of a recent one, in
 * ms.
 */
const lookAgain = 5_000;
const upToDate = 2 * 3_600_000;

/** The number of pages that are compared separately: those with the most time. */
const mostPages = 8;

/** The panel of changes and budgets that need attention. */
export function Attention() {
  const { selection } = useView();
  const [soon, setSoon] = useState(true); // the first evaluation is running, as after a start
  const found = useQuery(changes('open', selection.page), soon ? lookAgain : undefined);
  const evaluated = Date.parse(found.response?.evaluated ?? '');
  useEffect(() => setSoon(!(Date.now() - evaluated < upToDate)), [evaluated]);
  const unwatched = found.problem?.status == 404;
  return (
    <Panel title="What needs attention" class="attention">
      {found.response && <Found all={found.response.changes} evaluated={found.response.evaluated} />}
      {!unwatched && <State of={found} />}
      <Blown />
      <SinceRelease pageByPage={unwatched} />
    </Panel>
  );
}

/** Open changes, except moved time. */
function Found({ all, evaluated }: { all: FoundChange[]; evaluated?: string }) {
  const { place } = useView();
  const open = urgent(all);
  if (!evaluated) return null;
  if (!open.length) {
    return (
      <p class="item">
        No open <a href={linkTo(place, 'changes')}>changes</a>.
      </p>
    );
  }
  return (
    <>
      <ul class="items">
        {open.slice(0, mostChanges).map((change) => (
          <FoundItem key={change.id} change={change} />
        ))}
      </ul>
      {open.length > mostChanges && <a href={linkTo(place, 'changes')}>{open.length - mostChanges} more changes</a>}
    </>
  );
}

function FoundItem({ change }: { change: FoundChange }) {
  const { place } = useView();
  const page = change.pages[0]!;
  const cause = change.causes?.[0];
  return (
    <li class="item">
      <span class={`status ${change.direction}`}>{change.direction}</span>{' '}
      <a href={linkTo(place, 'changes', { id: change.id })}>
        <Text>{textOf(change.what)}</Text>
      </a>{' '}
      <span class={change.direction}>{amountOf(change.what, shownChange(page).estimate)}</span> on{' '}
      <PlaceLink kind="page" name={page.page} />
      {change.pages.length > 1 && <small class="quiet"> and {change.pages.length - 1} more</small>}
      <div class="quiet">
        <small>
          since {moment(change.begin)}, <Text length={80}>{sinceOf(change)}</Text>
          {cause && (
            <>
              : <Text length={120}>{cause.text}</Text>
            </>
          )}
        </small>
      </div>
    </li>
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
      {!budget.sure && ', possibly by chance'}
    </li>
  );
}

/**
 * The changes of the newest release. With pageByPage, it lists pages, too, where changes are not
 * detected automatically.
 */
function SinceRelease({ pageByPage }: { pageByPage: boolean }) {
  const { place, selection } = useView();
  const found = useQuery(newest(selection));
  const { release = '', compare_release, missing, guess } = found.response ?? {};
  const after = release && compare_release && !missing ? { ...selection, release } : undefined;
  const other = { release: compare_release };
  const shown = useQuery(after && compare(after, other, { limit: 50, method: 'sums' }));
  const pages = useQuery(after && pageByPage && !selection.page ? list('pages', after, mostPages) : undefined);
  const href = linkTo(place, 'compare', { release, compare_release });
  return (
    <div class={guess ? 'since guess' : 'since'}>
      <State of={found} />
      {missing && <p class="item">{missing}</p>}
      {after && (
        <h3>
          <a href={href}>
            Release <Text length={30}>{release}</Text> against <Text length={30}>{compare_release!}</Text>
          </a>
        </h3>
      )}
      {guess && <p class="item quiet">{guess}</p>}
      <State of={shown} />
      {shown.response && <Changes of={shown.response} href={href} />}
      {after && pages.response && (
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
  const { value } = response.total.change_ms;
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
            <span class={change.change_ms.value > 0 ? 'slower' : 'faster'}>{signed(change.change_ms.value)} ms</span>
          </li>
        ))}
      </ul>
      {changed.length > mostChanges && <a href={href}>{changed.length - mostChanges} more</a>}
    </>
  );
}
