// Logging in and out, where the daemon wants to know who asks. The browser has a cookie then, which no script reads;
// that there is one is remembered, so that there is a way out.

const key = 'fieldtrie-login';

/** Who somebody is. */
export type Who = { user: string; password: string } | { token: string };

/** Returns why somebody can not log in, as a sentence; undefined after it was done. */
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

/** Ends the login of this browser. What the page knows goes when it is loaded again, which the caller sees to. */
export async function logOut(): Promise<void> {
  remember(false);
  await fetch('logout', { method: 'POST' }).catch(() => undefined); // the login ends by itself, too
}

/** Whether somebody logged in with this browser. */
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
    // There is no way out then but by time.
  }
}

/** What may be asked, as the daemon said last; undefined if it lets all ask everything. */
let scopes: string[] | undefined;

/** Takes from a response what may be asked by who asked it, and returns the response. */
export function noteScopes(response: Response): Response {
  const said = response.headers.get('Fieldtrie-Scopes');
  if (said != undefined) scopes = said.split(' ');
  return response;
}

/** Whether what takes a scope may be asked, as far as it is known. */
export function mayAsk(scope: string): boolean {
  return !scopes || scopes.includes(scope);
}
