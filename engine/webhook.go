package engine

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// The headers of what is posted to a webhook. The signature is over the
// timestamp, a dot and the body.
const (
	hookEventHeader     = "Clearbox-Event"
	hookDeliveryHeader  = "Clearbox-Delivery"
	hookTimestampHeader = "Clearbox-Timestamp" // Unix seconds of the attempt
	hookSignatureHeader = "Clearbox-Signature" // "v1=" and HMAC-SHA256 in hexadecimal digits
)

const (
	hookTimeout = 10 * time.Second
	hookAnswer  = 64 << 10 // bytes of an answer that are read, so that its connection can be used again
)

// hookClient posts to webhooks. A redirect is not followed: the address that a
// person typed is the one that is told.
func hookClient() *http.Client {
	return &http.Client{Timeout: hookTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Notice is the body of what is posted to a webhook. Text says all of it in a
// line, under the name that chat programs read.
type Notice struct {
	ID     string      `json:"id"` // of the delivery: the same at each attempt
	Event  string      `json:"event"`
	Reason *string     `json:"reason"` // what is waited for
	At     plan.Stamp  `json:"at"`
	Text   string      `json:"text"`
	Detail *string     `json:"detail"` // the first line of an error, a question …
	Plan   *NoticePlan `json:"plan"`   // top-level; null in a test
	Step   *NoticeStep `json:"step"`   // null when it is about the plan as a whole
	URL    *string     `json:"url"`    // of the page
}

// NoticePlan is the plan that a notice is about.
type NoticePlan struct {
	ID    plan.PlanID `json:"id"`
	Title string      `json:"title"`
}

// NoticeStep is the step that a notice is about.
type NoticeStep struct {
	PlanID plan.PlanID `json:"plan_id"`
	NodeID plan.NodeID `json:"node_id"`
	Title  string      `json:"title"`
}

// noticeOf writes out a delivery. base is where people reach the server.
func noticeOf(d *Delivery, base string) Notice {
	n := Notice{ID: d.Key, Event: d.Event, At: d.At, Text: sentenceOf(d)}
	if d.Reason != "" {
		n.Reason = &d.Reason
	}
	if d.Text != "" {
		n.Detail = &d.Text
	}
	page := base
	if d.Root != 0 {
		n.Plan = &NoticePlan{d.Root, d.Title}
		page = fmt.Sprintf("%s/plans/%d", base, d.Plan)
	}
	if d.Node != 0 {
		n.Step = &NoticeStep{d.Plan, d.Node, d.Step}
		page += fmt.Sprintf("/nodes/%d", d.Node)
	}
	if base != "" {
		n.URL = &page
	}
	return n
}

// sentenceOf says a notice in one line.
func sentenceOf(d *Delivery) string {
	what := fmt.Sprintf("plan %d (%s)", d.Root, d.Title)
	if d.Node != 0 {
		what = fmt.Sprintf("step %s (%s) of plan %d (%s)", plan.Ref{Plan: d.Plan, Node: d.Node}, d.Step, d.Root, d.Title)
	}
	end := ""
	if d.Text != "" {
		end = ": " + d.Text
	}
	switch d.Event {
	case NoticeTest:
		return "Clearbox can reach this address."
	case NoticePlanDone:
		return "Done: " + what
	case NoticePlanFailed, NoticeStepFailed:
		return "Failed: " + what + end
	}
	why := map[string]string{WaitsStep: "is yours", WaitsVerdict: "needs your verdict", WaitsQuestion: "has a question", WaitsApproval: "is to be approved",
		WaitsPlanning: "could not be planned", WaitsBudget: "has used up its budget"}[d.Reason]
	return "Waits for you: " + what + " " + why + end
}

// post tries a delivery once. The fault says for people why it was not taken; it
// never has the address in it, whose path is often a secret.
func (c *courier) post(ctx context.Context, h Webhook, d *Delivery) (status int, fault string) {
	body, err := json.Marshal(noticeOf(d, c.e.publicURL()))
	if err != nil {
		return 0, "the notice could not be written"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return 0, "the address cannot be used"
	}
	stamp := strconv.FormatInt(c.e.opts.Now().Unix(), 10)
	for name, value := range map[string]string{"Content-Type": "application/json", "User-Agent": "Clearbox", hookEventHeader: d.Event,
		hookDeliveryHeader: d.Key, hookTimestampHeader: stamp} {
		req.Header.Set(name, value)
	}
	if h.Secret != "" {
		req.Header.Set(hookSignatureHeader, signature(h.Secret, stamp, body))
	}
	res, err := c.client.Do(req)
	if err != nil {
		return 0, connectFault(err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, hookAnswer)
	return res.StatusCode, statusFault(res.StatusCode)
}

// signature signs what is posted, with the moment, so that it cannot be sent again
// later by someone else.
func signature(secret, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

func statusFault(status int) string {
	switch {
	case status/100 == 2:
		return ""
	case status/100 == 3:
		return fmt.Sprintf("it answered %d, a redirect: those are not followed, so set the address that it leads to", status)
	}
	return fmt.Sprintf("it answered %d %s", status, http.StatusText(status))
}

// connectFault says why there was no answer, without the address.
func connectFault(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return fmt.Sprintf("no answer within %s", hookTimeout)
		}
		err = u.Err
	}
	return brief("it could not be reached: " + strings.ReplaceAll(err.Error(), "\n", " "))
}

// TestWebhook sends a notice to a webhook now, once, and returns how that went.
func (e *Engine) TestWebhook(ctx context.Context, id int64) (*Delivery, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return nil, err
	}
	var hook Webhook
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		hook, err = webhook(tx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	if hook.ID == 0 {
		return nil, plan.Errorf(plan.NotFound, "there is no webhook %d", id)
	}
	d := &Delivery{Key: strings.ToLower(rand.Text()), Hook: id, Event: NoticeTest, At: plan.StampOf(e.opts.Now())}
	status, fault := e.courier.post(ctx, hook, d)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.Attempts, d.Status, d.Fault, d.TriedAt = 1, status, fault, plan.StampOf(e.opts.Now())
	err = e.store.Write(ctx, func(tx *store.Tx) error {
		if err := tx.InsertTried(d); err != nil {
			return err
		}
		return tx.Record(plan.Change{Kind: plan.ChangeSettings})
	})
	return d, err
}
