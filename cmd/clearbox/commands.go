package main

// commands is the table of all commands, in the order of the overview.
func commands() []command {
	return []command{
		{name: "serve", section: "the server", summary: "run the server here, until Ctrl-C; this is what clearbox does by itself", text: serveText, setup: serveCommand},
		{name: "ensure", summary: "start the server in the background, unless one answers", text: ensureText, setup: ensureCommand},
		{name: "stop", summary: "end the server, and the agents at work", text: stopText, setup: stopCommand},
		{name: "restart", summary: "replace the server; agents work on", text: restartText, setup: restartCommand},
		{name: "status", summary: "show what is under way and what waits for you", text: statusText, setup: statusCommand},

		{name: "plan", section: "plans", summary: "post, start, watch and steer plans", text: planText, sub: planCommands()},
		{name: "questions", summary: "list what agents ask", text: questionsText, setup: questionsCommand},
		{name: "answer", args: "STEP|QUESTION allow|deny", summary: "answer what an agent asks", text: answerText, setup: answerCommand},

		{name: "harness", section: "setting up", summary: "list and check agent runtimes", sub: harnessCommands()},
		{name: "mcp-config", args: "[CLIENT]", summary: "print the configuration that connects a client", text: configText, setup: configCommand},
		{name: "import", args: "FILE", summary: "take over a database of the Python program clearbox", text: importText, setup: importCommand},
		{name: "completion", args: "SHELL", summary: "print completion for bash, zsh or fish", text: completionText, setup: completionCommand},
		{name: "version", summary: "print the version", setup: versionCommand},
		{name: "help", args: "[COMMAND...]", summary: "explain a command", setup: helpCommand},

		{name: "--version", hidden: true, setup: versionCommand},
		{name: completeName, args: "[WORD...]", hidden: true, setup: completeCommand},
	}
}

func planCommands() []command {
	return []command{
		{name: "submit", args: "FILE", summary: "post a plan from a YAML or JSON file", text: submitText, setup: submitCommand},
		{name: "start", args: "PLAN", summary: "start a plan, or go on with a stopped one", text: startPlanText, setup: startPlanCommand},
		{name: "stop", args: "PLAN|STEP", summary: "stop a plan, or one step", text: stopPlanText, setup: stopPlanCommand},
		{name: "from-goal", args: "GOAL", summary: "have a plan made from a goal", text: fromGoalText, setup: fromGoalCommand},
		{name: "approve", args: "PLAN", summary: "let a plan run that waits for your approval", text: approveText, setup: approveCommand},
		{name: "revise", args: "PLAN FEEDBACK", summary: "have a plan that waits for approval changed", text: reviseText, setup: reviseCommand},
		{name: "reject", args: "PLAN", summary: "reject a plan that waits for approval", text: rejectText, setup: rejectCommand},
		{name: "list", summary: "list all plans, the newest first", text: listText, setup: listCommand},
		{name: "show", args: "PLAN|STEP", summary: "show a plan with its steps, or one step", text: showText, setup: showCommand},
		{name: "watch", args: "PLAN", summary: "follow a plan until it is done or has failed", text: watchText, setup: watchCommand},
		{name: "done", args: "STEP", summary: "mark a step done, such as one of your own", text: doneText, setup: doneCommand},
		{name: "retry", args: "PLAN|STEP", summary: "run failed steps again", text: retryText, setup: retryCommand},
		{name: "export", args: "PLAN", summary: "print a plan as Markdown, HTML or a template", text: exportText, setup: exportCommand},
		{name: "delete", args: "PLAN", summary: "remove a plan", text: deleteText, setup: deleteCommand},

		{name: "questions", hidden: true, summary: "list what agents ask", text: questionsText, setup: questionsCommand},
		{name: "answer", args: "STEP|QUESTION allow|deny", hidden: true, summary: "answer what an agent asks", text: answerText, setup: answerCommand},
	}
}

func harnessCommands() []command {
	return []command{
		{name: "list", summary: "list the harnesses that the server has found", text: harnessListText, setup: harnessListCommand},
		{name: "check", args: "PATH", summary: "try a harness binary against all demands", text: harnessCheckText, setup: harnessCheckCommand},
	}
}

const serveText = `
Every flag that names a variable can be set by it; a flag goes before its
variable.

examples:
  clearbox --mock                      agents that are played: nothing is spent
  clearbox --port 9000 --max-concurrency 5
  clearbox --openai-base-url http://localhost:11434/v1 \
           --openai-model qwen2.5-coder:14b --agent-profile openai`

const planText = `
A plan is named by its number, such as 3, and a step by plan and step: 3.2.

  clearbox plan submit plan.yaml --start --watch`

const startPlanText = `
Two started plans cannot work in the same folder.

examples:
  clearbox plan start 3
  clearbox plan start 3 --executor external`

const stopPlanText = `
Stopping a plan ends its agents; their steps are pending again, and "clearbox plan
start" goes on. Stopping one step fails it.

examples:
  clearbox plan stop 3
  clearbox plan stop 3.2`

const listText = `
examples:
  clearbox plan list
  clearbox plan list --json | jq -r '.[] | select(.status == "failed") | .id'`

const showText = `
examples:
  clearbox plan show 3
  clearbox plan show 3.2                       with its task and its result
  clearbox plan show 3 --json | jq .progress`

const doneText = `
Ends a step that waits for you, so that the next ones start. On a step that an
agent works on it stops the agent first.

examples:
  clearbox plan done 3.2
  clearbox plan done 3.2 --result "merged as 4f1c2ab"`

const retryText = `
examples:
  clearbox plan retry 3        all failed steps of the plan and its subplans
  clearbox plan retry 3.2`

const deleteText = `
Removes a plan with its subplans, transcripts and results; files in its folder
stay as they are. It asks first, or needs --yes where there is no terminal.

examples:
  clearbox plan delete 3
  clearbox plan delete 3 --yes`

const questionsText = `
examples:
  clearbox questions
  clearbox questions --json | jq -r '.[].id'`

const answerText = `
A question is named by its step, or by the name that "clearbox questions" shows
when a step asks several things. The first answer counts, wherever it was given.

examples:
  clearbox answer 3.2 allow
  clearbox answer 3.2 deny --message "use the staging database"`
