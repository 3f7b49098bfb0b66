// Login and logout, if the daemon requires a login. Scripts cannot read the session cookie, so
// local storage records that there is one, for the logout button.

const key = 'fieldtrie-login';

/** The credentials of a login. */
export type Who = { user: string; password: string } | { token: string };

/** Logs in. Returns an error as a sentence, undefined on success. */
export async function logIn(who: Who): Promise<string | undefined> {
  try {
    const response = await fetch('login', { method: 'POST', body: JSON.stringify(who) });
    if (response.ok) return void remember(true);
    if (response.status == 401) return 'The user, password or token is wrong.';
    return (await response.text()).slice(0, 300) || `The daemon responded with ${response.status}.`;
  } catch {
    return 'The daemon does not respond.';
  }
}

/** Ends the login of this browser. The caller must reload the page to drop its data. */
export async function logOut(): Promise<void> {
  remember(false);
  await fetch('logout', { method: 'POST' }).catch(() => undefined); // the login expires in any case
}

/** The name of the OpenID provider in the last response; undefined if there is none. */
let provider: string | undefined;

/** Returns that name, and the URL that starts its login and returns to this page. */
export function providerLogin(): { name: string; href: string } | undefined {
  const here = location.pathname + location.search + location.hash;
  return provider == undefined ? undefined : { name: provider, href: `login/start?next=${encodeURIComponent(here)}` };
}

/** Records a login by the provider, which leaves the page. */
export function goToProvider(): void {
  remember(true);
}

/** Reports whether this browser has logged in. */
export function isLoggedIn(): boolean {
  try {
    return localStorage.getItem(key) != null;
  } catch {
    return false;
  }
}

function remember(yes: boolean): void {
  try {
    if (yes) localStorage.setItem(key, '1');
    else localStorage.removeItem(key);
  } catch {
    // Without local storage, there is no logout button, and the login ends when it expires.
  }
}

/** The scopes in the daemon's last response; undefined if all queries are allowed. */
let scopes: string[] | undefined;

/** Records the user's scopes, or how to log in, from a response, and returns the response. */
export function noteScopes(response: Response): Response {
  const by = response.headers.get('Fieldtrie-Login');
  if (by != undefined) provider = decodeURIComponent(by);
  const said = response.headers.get('Fieldtrie-Scopes');
  if (said != undefined) scopes = said.split(' ');
  return response;
}

/** Reports whether a query that requires a scope is allowed, as far as it is known. */
export function mayAsk(scope: string): boolean {
  return !scopes || scopes.includes(scope);
}
