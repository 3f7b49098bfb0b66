package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Forms of a message on GitHub.
const (
	asIssue   = "issue"
	asComment = "comment" // on the commit of the release
)

func (c *Channel) checkGitHub() (wrong []error) {
	if wrong = c.checkURL(); len(wrong) == 0 && repository(c.Target) == "" {
		wrong = append(wrong, fmt.Errorf("target: %.100q is not a repository such as https://github.com/acme/shop",
			shown(c.Target)))
	}
	if c.As != asIssue && c.As != asComment {
		wrong = append(wrong, fmt.Errorf("as: %.40q is neither %s nor %s, a comment on the commit of a release", c.As,
			asIssue, asComment))
	}
	u, err := url.Parse(c.Target)
	if c.API == "" && err == nil && u.Host != "github.com" {
		wrong = append(wrong, errors.New(
			"api is missing; set the URL of the API, such as https://github.example.com/api/v3"))
	}
	if c.API != "" {
		if err := checkWebURL(c.API); err != nil {
			wrong = append(wrong, fmt.Errorf("api: %w", err))
		}
	}
	return wrong
}

// repository returns "owner/name" of the URL of a repository, or "".
func repository(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	name := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if !ownerAndName.MatchString(name) {
		return ""
	}
	return name
}

var ownerAndName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$`)

// concerns reports whether a message is about a channel's repository, as far as known, and has the
// commit that a comment needs.
func (c *Channel) concerns(m Message) bool {
	if r := repository(m.Repository); r != "" && !strings.EqualFold(r, repository(c.Target)) {
		return false
	}
	return c.As == asIssue || commitSHA.MatchString(m.Commit)
}

var commitSHA = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// hub is a client for the API of a repository.
type hub struct {
	*line
	base string
}

func sendGitHub(ctx context.Context, l *line, b Batch) Result {
	h := hub{l, strings.TrimSuffix(l.channel.receiver(), "/") + "/repos/" + repository(l.channel.Target)}
	d := b.Due[0]
	if l.channel.As == asComment {
		return h.comment(ctx, d.Message)
	}
	return h.issue(ctx, d)
}

func (h hub) ask(ctx context.Context, method, path string, body any) (reply, Result) {
	header := h.bearer()
	header.Set("Accept", "application/vnd.github+json")
	header.Set("X-Github-Api-Version", "2022-11-28")
	r, err := h.do(ctx, method, h.base+path, header, body)
	return r, h.judged(r, err)
}

type githubBody struct {
	Body string `json:"body"`
}

// comment comments on the commit of a message, or for a test on the newest commit.
func (h hub) comment(ctx context.Context, m Message) Result {
	sha := m.Commit
	if m.Event == Test {
		r, out := h.ask(ctx, http.MethodGet, "/commits?per_page=1", nil)
		var commits []struct {
			SHA string `json:"sha"`
		}
		if out.Outcome != Accepted {
			return out
		}
		if err := json.Unmarshal(r.body, &commits); err != nil || len(commits) == 0 {
			return Result{Outcome: Refused, Answer: "the repository has no commit to comment on"}
		}
		sha = commits[0].SHA
	}
	if !commitSHA.MatchString(sha) {
		return Result{Outcome: Refused, Answer: "the commit of the release is unknown; upload with --commit"}
	}
	_, out := h.ask(ctx, http.MethodPost, "/commits/"+sha+"/comments", githubBody{markdownOf(m, true)})
	return out
}

// issue opens an issue, and closes it with a comment when the change is resolved. If its number is
// unknown, it stays open.
func (h hub) issue(ctx context.Context, d Due) Result {
	m := d.Message
	number, err := strconv.ParseUint(d.Receipt, 10, 63)
	known := err == nil
	if m.Event == Resolved && !known {
		return Result{Outcome: Accepted, Answer: "the issue of the change is unknown, so none was closed"}
	}
	if m.Event == Resolved {
		return h.close(ctx, m, number)
	}
	r, out := h.ask(ctx, http.MethodPost, "/issues", map[string]string{"title": cut(m.Title, 250),
		"body": markdownOf(m, false)})
	var made struct {
		Number uint64 `json:"number"`
	}
	if out.Outcome != Accepted || json.Unmarshal(r.body, &made) != nil || made.Number == 0 {
		return out
	}
	out.Receipt = strconv.FormatUint(made.Number, 10)
	out.Answer = fmt.Sprintf("%d: issue %d", r.status, made.Number)
	if m.Event == Test {
		return h.close(ctx, m, made.Number)
	}
	return out
}

// close closes an issue. The comment comes last, because a retry would repeat only that.
func (h hub) close(ctx context.Context, m Message, number uint64) Result {
	path := "/issues/" + strconv.FormatUint(number, 10)
	_, out := h.ask(ctx, http.MethodPatch, path, map[string]string{"state": "closed", "state_reason": "completed"})
	if out.Outcome == Accepted {
		_, out = h.ask(ctx, http.MethodPost, path+"/comments", githubBody{markdownOf(m, true)})
	}
	out.Receipt = strconv.FormatUint(number, 10)
	return out
}

// markdownOf formats a message as Markdown in which its texts are escaped. A comment with the id
// lets programs find the change.
func markdownOf(m Message, title bool) string {
	var b strings.Builder
	if title {
		b.WriteString("**" + inMarkdown(withEvent(m)) + "**\n\n")
	}
	for _, text := range m.Lines {
		b.WriteString(inMarkdown(text) + "\n\n")
	}
	if text := labelText(m); text != "" {
		b.WriteString(inMarkdown(text) + "\n\n")
	}
	if m.Link != "" {
		b.WriteString("[Open in Fieldtrie](<" + m.Link + ">)\n\n")
	}
	b.WriteString("<!-- fieldtrie change " + token(m.Change) + " -->\n")
	return b.String()
}

// inMarkdown escapes a text. It writes potential markup as character references. GitHub looks for
// mentions and references to issues in the rendered text, so these get an invisible joiner.
func inMarkdown(text string) string {
	const joiner = "&#8288;"
	var b strings.Builder
	for i, r := range text {
		if !strings.ContainsRune("\\`*_{}[]<>|~&$!()+-=.@#:", r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "&#%d;", r)
		if r == '@' || r == '#' || strings.HasPrefix(text[i:], "://") {
			b.WriteString(joiner)
		}
	}
	return issueKey.ReplaceAllString(b.String(), "$0"+joiner)
}

// issueKey matches the alternative prefix of a reference to an issue.
var issueKey = regexp.MustCompile(`(?i)\bgh&#45;`)
