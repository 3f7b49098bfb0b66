// The frame of all pages: navigation, filters, and the age of the data.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { noTimeOf } from '../../api/selection.ts';
import { isLoggedIn, logOut } from '../../state/login.ts';
import { cancelAll, refreshAll, useOverall } from '../../state/responses.ts';
import { linkHere, linkTo, permanentLink } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Copy } from '../../widgets/Command.tsx';
import { Notice, ProblemNotice } from '../../widgets/Notice.tsx';
import { ago, cut, moment, visible } from '../../widgets/numbers.ts';
import { ThemeSwitch } from '../../widgets/ThemeSwitch.tsx';
import type { Filter } from '../../routes.tsx';
import { Demo } from './Demo.tsx';
import { Filters } from './Filters.tsx';
import { Footer } from './Footer.tsx';
import { Login } from './Login.tsx';
import './shell.css';

/** The routes of the navigation and their titles. */
const destinations = [
  ['', 'Overview'],
  ['pages', 'Pages'],
  ['features', 'Features'],
  ['changes', 'Changes'],
  ['compare', 'Compare'],
  ['audience', 'Audience'],
  ['ownership', 'Ownership'],
  ['budgets', 'Budgets'],
  ['health', 'Health'],
] as const;

/** The entry of the navigation for other routes. */
const belongs: Record<string, string> = {
  page: 'pages',
  feature: 'features',
  function: 'pages',
  views: 'pages',
  view: 'pages',
};

interface Props {
  title: string;
  /** The parameters that identify the page's subject. */
  subject: readonly string[];
  filters: readonly Filter[];
  children: ComponentChildren;
}

/** A page with its frame. */
export function Shell({ title, subject, filters, children }: Props) {
  const { place, selection, ofFile } = useView();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const overall = useOverall();
  const wrong = noTimeOf(selection);
  useEffect(() => {
    document.title = title ? `${title} – Fieldtrie` : 'Fieldtrie';
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [place.route, title]);
  return (
    <>
      <a class="skip" href="#main" onClick={() => main.current?.focus()}>
        Skip to content
      </a>
      <Header title={title} />
      {!ofFile && <Demo />}
      {!ofFile && filters.length > 0 && <Filters subject={subject} filters={filters} />}
      <main id="main" ref={main} tabIndex={-1}>
        {overall.problem?.status == 0 && <ProblemNotice problem={overall.problem} again={refreshAll} />}
        {overall.problem?.status == 401 ? <Login /> : wrong ? <NoTime text={wrong} /> : children}
      </main>
      {!ofFile && <Footer />}
    </>
  );
}

/** Reports an invalid time in the URL. */
function NoTime({ text }: { text: string }) {
  const { place } = useView();
  return (
    <>
      <h1 class="hidden">Invalid time</h1>
      <Notice kind="bad">
        <p>
          “{visible(cut(text, 60))}” is not a valid time. Use a duration such as 24h or 7d, or a time such as
          2026-11-21T10:00:00Z.
        </p>
        <p>
          <a href={linkHere(place, { since: '', until: '' })}>Show the last 24 h</a>
        </p>
      </Notice>
    </>
  );
}

function Header({ title }: { title: string }) {
  const { place, ofFile } = useView();
  return (
    <header class="top">
      <a class="brand" href={ofFile ? linkTo(place, 'file') : './'}>
        <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
          <rect x="1" y="14" width="18" height="4" rx="1" />
          <rect x="1" y="8" width="12" height="4" rx="1" />
          <rect x="5" y="2" width="5" height="4" rx="1" />
        </svg>
        Fieldtrie
      </a>
      {ofFile ? <span class="space" /> : <Navigation title={title} />}
      <Freshness />
      <div class="tools">
        <PermanentLink />
        <ThemeSwitch />
        {isLoggedIn() && (
          <button type="button" class="quiet" onClick={() => void logOut().then(() => location.reload())}>
            Log out
          </button>
        )}
      </div>
    </header>
  );
}

function Navigation({ title }: { title: string }) {
  const { place } = useView();
  const [open, setOpen] = useState(false);
  const route = belongs[place.route] ?? place.route;
  useEffect(() => setOpen(false), [place]);
  return (
    <nav class="main" aria-label="Pages of the dashboard">
      <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">☰</span> {destinations.find(([one]) => one == route)?.[1] ?? title}
      </button>
      <ul class={open ? 'open' : ''}>
        {destinations.map(([to, name]) => (
          <li key={to}>
            <a href={linkTo(place, to)} aria-current={to == route ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The age of the data, and the progress of queries. */
function Freshness() {
  const { pendingSince, asOf } = useOverall();
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 5_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="freshness">
      {pendingSince != undefined && (
        <span class="pending" role="status">
          <span class="bar" />
          <button type="button" onClick={cancelAll}>
            Cancel
          </button>
        </span>
      )}
      {asOf != undefined && (
        <button type="button" class="quiet" title={`As of ${moment(asOf)}. Refresh.`} onClick={refreshAll}>
          <span aria-hidden="true">↻</span> {ago(Date.now() - asOf)}
          <span class="hidden"> old: refresh</span>
        </button>
      )}
    </div>
  );
}

function PermanentLink() {
  const { place } = useView();
  return <Copy text={() => new URL(permanentLink(place, Date.now()), location.href).href}>Copy link</Copy>;
}
