package store

import "github.com/clearbox-go/clearbox/engine/plan"

const questionColumns = `q.id, q.run_id, q.plan_id, q.node_id, q.tool, q.text, CAST(q.input AS BLOB) AS input, q.asked_at, q.until, q.answer,
	q.message, q.answered_at`

const insertQuestion = `INSERT INTO questions (id, run_id, plan_id, node_id, tool, text, input, asked_at, until)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// InsertQuestion adds an open question; one that is there already stays as it is.
func (t *Tx) InsertQuestion(q *plan.Question) (isNew bool, err error) {
	q.AskedAt = t.now
	n, err := t.exec("insert question", insertQuestion, q.ID, q.RunID, q.PlanID, q.NodeID, q.Tool, q.Text,
		string(q.Input), q.AskedAt, q.Until)
	return n > 0, err
}

const questionByID = `SELECT ` + questionColumns + ` FROM questions q WHERE q.run_id = ? AND q.id = ?`

// Question returns a question of a run; NotFound when there is none.
func (t *Tx) Question(run plan.RunID, id string) (*plan.Question, error) {
	var q plan.Question
	err := t.get("read question", &q, questionByID, run, id)
	if isNone(err) {
		return nil, plan.Errorf(plan.NotFound, "there is no question %q", id)
	}
	return &q, err
}

const openQuestions = `SELECT ` + questionColumns + ` FROM questions q JOIN plans p ON p.id = q.plan_id
	WHERE q.answered_at = 0 AND (?1 = 0 OR p.root_id = ?1) ORDER BY q.asked_at, q.id`

// OpenQuestions returns the questions without an answer, of one tree or (0) of all.
func (t *Tx) OpenQuestions(root plan.PlanID) ([]plan.Question, error) {
	var list []plan.Question
	err := t.list("read questions", &list, openQuestions, root)
	return list, err
}

const answerQuestion = `UPDATE questions SET answer = ?, message = ?, answered_at = ?
	WHERE run_id = ? AND id = ? AND answered_at = 0`

// AnswerQuestion closes a question. It is a Conflict when it is closed already:
// the first answer wins.
func (t *Tx) AnswerQuestion(run plan.RunID, id, answer, message string) error {
	n, err := t.exec("answer question", answerQuestion, answer, message, t.now, run, id)
	if err == nil && n == 0 {
		err = plan.Errorf(plan.Conflict, "the question has been answered already")
	}
	return err
}

const closeQuestions = `UPDATE questions SET answer = 'deny', message = ?, answered_at = ? WHERE run_id = ? AND answered_at = 0`

// CloseQuestions closes what a run that has ended still asked.
func (t *Tx) CloseQuestions(run plan.RunID, why string) (int64, error) {
	return t.exec("close questions", closeQuestions, why, t.now, run)
}

const setSetting = `INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

// SetSetting stores a setting as JSON.
func (t *Tx) SetSetting(name, json string) error {
	_, err := t.exec("store a setting", setSetting, name, json)
	return err
}

const settingByName = `SELECT value FROM settings WHERE name = ?`

// Setting returns a setting as JSON, "" when it is not set.
func (t *Tx) Setting(name string) (string, error) {
	var v string
	err := t.get("read a setting", &v, settingByName, name)
	if isNone(err) {
		return "", nil
	}
	return v, err
}
