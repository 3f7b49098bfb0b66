// What needs somebody now: budgets that are blown, and changes that are more than noise.

import { budgets, catalog, compare } from '../api/questions.ts';
import type { Budget, Comparison } from '../api/types.ts';
import { useAnswer } from '../state/answer.ts';
import { linkTo } from '../state/url.ts';
import { releasesOf } from '../widgets/lines.ts';
import { signed } from '../widgets/numbers.ts';
import { Panel } from '../widgets/Panel.tsx';
import { State } from '../widgets/Notice.tsx';
import { budgetLimit, budgetValue } from './Budgets.tsx';
import { useView } from './context.ts';
import { FunctionLink, Text } from './names.tsx';
import { changedFunctions, verdictOf } from './verdict.ts';

/** How many changes are listed. */
const mostChanges = 6;

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
  const shown = useAnswer(budgets());
  if (shown.problem?.status == 404) {
    return (
      <p class="item quiet">
        No budgets yet. <a href={linkTo(place, 'budgets')}>How to add one</a>
      </p>
    );
  }
  if (!shown.answer) return <State of={shown} />;
  const blown = shown.answer.budgets.filter((budget) => budget.blown);
  if (!blown.length) return <p class="item">All {shown.answer.budgets.length} budgets are kept.</p>;
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

/** The two releases to compare: what is selected and the one before, or the newest two. */
export function latestPair(names: readonly string[], selected: string): { before: string; after: string } | undefined {
  const after = selected || names.at(-1) || '';
  const before = names[names.indexOf(after) - 1];
  return before && after ? { before, after } : undefined;
}

function SinceRelease() {
  const { place, selection } = useView();
  const { answer: stored } = useAnswer(catalog());
  const names = releasesOf(stored, selection.page).map(({ name }) => name);
  const pair = latestPair(names, selection.release);
  const other = pair && { release: pair.before };
  const shown = useAnswer(other && compare({ ...selection, release: pair.after }, other, { limit: 50 }));
  if (!stored) return null;
  if (!pair) return <p class="item quiet">Changes are shown as soon as there are two releases.</p>;
  const href = linkTo(place, 'compare', { release: pair.after, compare_release: pair.before });
  return (
    <div class="since">
      <h3>
        <a href={href}>
          Release <Text length={30}>{pair.after}</Text> against <Text length={30}>{pair.before}</Text>
        </a>
      </h3>
      <State of={shown} />
      {shown.answer && <Changes of={shown.answer} href={href} />}
    </div>
  );
}

function Changes({ of, href }: { of: Comparison; href: string }) {
  const verdict = verdictOf(of);
  const changed = changedFunctions(of);
  return (
    <>
      <p class={`item verdict ${verdict.status.replaceAll(' ', '-')}`}>{verdict.sentence}</p>
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
