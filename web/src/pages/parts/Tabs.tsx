// Several views of the same selection, one at a time. The URL contains the active one.

import type { ComponentChildren } from 'preact';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';

/** A tab: its value in the URL, its title, and its contents. */
export interface Tab {
  key: string;
  title: string;
  body: () => ComponentChildren;
}

/** Tabs. The first tab is active if the URL names none. */
export function Tabs({ tabs, name }: { tabs: readonly Tab[]; name: string }) {
  const { place } = useView();
  const current = tabs.find(({ key }) => key == place.params.get('tab')) ?? tabs[0]!;
  return (
    <div class="tabbed">
      <nav class="tabs" aria-label={name}>
        {tabs.map(({ key, title }) => (
          <a
            key={key}
            href={linkHere(place, { tab: key == tabs[0]?.key ? '' : key, sort: '' })}
            aria-current={key == current.key ? 'true' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {current.body()}
    </div>
  );
}
