import { render } from 'preact';
import './style.css';

render(<h1>Fieldtrie</h1>, document.body);
