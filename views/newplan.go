package views

// BeginPage is the page on which people begin a plan.
type BeginPage struct {
	ByHand  bool     // else from a goal
	ByFile  bool     // or from a file
	Agents  []string // names
	Folders []string // in which other plans work
}

// NewPlanURL is where plans are begun.
const NewPlanURL = "/plans/new"

// Title is what the page is called.
func (p *BeginPage) Title() string { return "New plan" }

// textField is a field for words, with help and a place for what is wrong.
type textField struct {
	ID, Name, Label, Help string
	Rows                  string // "" : one line
	Required              bool
	List                  string // id of what is suggested
}

func (f *textField) helpID() string  { return f.ID + "-help" }
func (f *textField) errorID() string { return f.ID + "-error" }

func (p *BeginPage) goalFields() []textField {
	return []textField{
		{ID: "new-goal", Name: "goal", Label: "Goal", Rows: "6", Required: true, Help: "What is to be reached, in your own words. A planner looks at the repository and makes the steps; nothing runs before you approve them."},
		p.folderField(),
		{ID: "new-constraints", Name: "constraints", Label: "Constraints", Rows: "3", Help: "What the plan must respect: versions, style, what must not be touched. May stay empty."},
	}
}

func (p *BeginPage) handFields() []textField {
	return []textField{
		{ID: "new-title", Name: "title", Label: "Title", Required: true, Help: "One line that names the goal."},
		p.folderField(),
		{ID: "new-description", Name: "description", Label: "Description", Rows: "4", Help: "The overall goal, as every step's agent will read it. May stay empty."},
	}
}

func (p *BeginPage) folderField() textField {
	return textField{ID: "new-dir", Name: "working_directory", Label: "Working directory", Required: true, List: "new-dirs",
		Help: "Absolute path of an existing folder. All steps work in it."}
}

func (p *BeginPage) fileFolderField() textField {
	f := p.folderField()
	f.Required = false
	f.Help = "Absolute path of an existing folder. It stands for what the file says, and is needed where the file says nothing, as templates do."
	return f
}
