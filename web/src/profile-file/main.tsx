// The script of an HTML file with one profile, written by aggregate -f html: it draws the profile
// in the file, and sends no requests.

import '../style.css';
import '../widgets/widgets.css';
import '../flame/flame.css';
import '../flame/treegrid.css';
import { render } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { FlameGraph } from '../flame/FlameGraph.tsx';
import { chosenTheme, showTheme } from '../state/theme.ts';
import { shown } from '../tree/format.ts';
import type { Frame } from '../tree/tree.ts';
import { ThemeSwitch } from '../widgets/ThemeSwitch.tsx';
import { Around } from './Around.tsx';
import { ofThread, readProfile, type Profile } from './data.ts';
import { Facts, Remarks } from './Facts.tsx';
import { Functions } from './Functions.tsx';
import { expressionFor } from './expression.ts';
import { sum } from './Threads.tsx';
import './profile-file.css'; // after the styles that it overrides

/**
 * A profile: its facts, the flame graph, one function with its callers and callees, and a table of
 * all functions.
 */
function ProfilePage({ profile: whole }: { profile: Profile }) {
  const first = whole.threads.filter((one) => one.shown);
  const [thread, chooseThread] = useState(first.length == 1 ? first[0]!.key : sum);
  const profile = useMemo(() => ofThread(whole, thread), [whole, thread]);
  const { tree, title = '' } = profile;
  const [search, setSearch] = useState('');
  const [chosen, choose] = useState<number>();
  const graph = useRef<HTMLElement>(null);
  const around = useRef<HTMLElement>(null);
  const name = shown(title || 'this profile', 80);
  const find = (frame: number) => {
    choose(frame);
    setSearch(expressionFor(tree.frames[frame]!));
    reveal(graph.current);
  };
  const sandwich = (frame: Frame) => {
    choose(tree.frames.indexOf(frame));
    requestAnimationFrame(() => reveal(around.current));
  };
  return (
    <>
      <header class="file">
        <div>
          <h1>
            <bdi title={shown(title, 4000)}>{shown(title || 'Profile', 200)}</bdi>
          </h1>
          <ThemeSwitch />
        </div>
        <Facts
          profile={profile}
          threads={thread == sum ? first : whole.threads.filter(({ key }) => key == thread)}
          chosen={thread}
          onChoose={(key) => (chooseThread(key), choose(undefined), setSearch(''))}
        />
      </header>
      <main key={thread}>
        <section class="panel" aria-label="Flame graph" ref={graph}>
          <div class="body">
            {tree.frame.length > 1 ? (
              <FlameGraph tree={tree} label={name} search={search} onSearch={setSearch} onSandwich={sandwich} />
            ) : (
              <p class="empty">This profile has no calls.</p>
            )}
            <Remarks profile={profile} />
          </div>
        </section>
        {chosen != undefined && (
          <section class="panel" aria-label="Callers and callees" ref={around}>
            <Around
              tree={tree}
              frame={chosen}
              onSandwich={sandwich}
              onClose={() => (choose(undefined), setSearch(''))}
            />
          </section>
        )}
        <Functions tree={tree} chosen={chosen} onChoose={find} />
      </main>
      <footer class="file hint">Written by Fieldtrie. This file loads and sends nothing.</footer>
    </>
  );
}

/** Scrolls to a part of the page, without animation if the user prefers reduced motion. */
function reveal(part: HTMLElement | null): void {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  part?.scrollIntoView({ behavior: still ? 'auto' : 'smooth', block: 'start' });
}

showTheme(chosenTheme());
const root = document.createElement('div');
document.body.append(root);
render(<ProfilePage profile={readProfile()} />, root);
