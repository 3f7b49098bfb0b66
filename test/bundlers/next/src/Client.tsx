import { BrowserRouter } from 'react-router';
import { App } from './App';

/** The app, which has a router of its own. */
export default function Client() {
  return (
    <BrowserRouter>
      <App />
    </BrowserRouter>
  );
}
