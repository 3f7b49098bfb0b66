// Asks who somebody is, where the daemon wants to know. The browser gets a cookie that no script reads.

import { useState } from 'preact/hooks';
import { refreshAll } from '../state/answer.ts';
import { Notice } from '../widgets/Notice.tsx';

/** A form for a user and a password, or a token. */
export function Login() {
  const [problem, setProblem] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '');
    const who = text('token') ? { token: text('token') } : { user: text('user'), password: text('password') };
    try {
      const response = await fetch('login', { method: 'POST', body: JSON.stringify(who) });
      if (response.ok) return refreshAll();
      setProblem(response.status == 401 ? 'The daemon knows no such user, password or token.' : await response.text());
    } catch {
      setProblem('The daemon does not answer.');
    }
  };
  return (
    <form class="login stack" onSubmit={(event) => void submit(event)}>
      <h1>Log in</h1>
      <p>This daemon answers those alone who are in its <code>--access</code> file.</p>
      {problem && (
        <Notice kind="bad">
          <p>{problem.slice(0, 300)}</p>
        </Notice>
      )}
      <label>
        User
        <input name="user" autocomplete="username" />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" />
      </label>
      <details>
        <summary>With a token instead</summary>
        <label>
          Token
          <input name="token" type="password" autocomplete="off" />
        </label>
      </details>
      <button type="submit">Log in</button>
    </form>
  );
}
