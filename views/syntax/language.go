package syntax

import "strings"

var (
	double   = quote{open: `"`, close: `"`}
	single   = quote{open: `'`, close: `'`}
	letter   = quote{open: `'`, close: `'`, letter: true}
	backtick = quote{open: "`", close: "`", lines: true}
	rawTick  = quote{open: "`", close: "`", raw: true, lines: true}
	triple   = quote{open: `"""`, close: `"""`, lines: true}
	triple1  = quote{open: `'''`, close: `'''`, lines: true}
)

var slashes, hash, starred = []string{"//"}, []string{"#"}, [][2]string{{"/*", "*/"}}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

const (
	cWords = "auto break case char const continue default do double else enum extern float for goto if inline int long register return short " +
		"signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL"
	jsWords = "abstract as async await break case catch class const continue declare default delete do else enum export extends finally for from function get " +
		"if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch " +
		"this throw true false try type typeof undefined var void while with yield"
	javaWords = "abstract assert boolean break byte case catch char class const continue data default do double else enum extends final finally float for fun if " +
		"implements import in instanceof int interface internal is let long native new null object open override package private protected public record return " +
		"sealed short static super suspend switch synchronized this throw throws trait true false try val var void volatile when where while with yield def match"
)

// languages by their names here.
var languages = map[string]*Language{
	"go": {line: slashes, block: starred, quotes: []quote{double, single, rawTick}, keywords: set("break case chan const continue default defer else fallthrough for " +
		"func go goto if import interface map package range return select struct switch type var true false nil iota any bool byte error int int64 string templ")},
	"c": {line: slashes, block: starred, quotes: []quote{double, single}, keywords: set(cWords + " catch class constexpr delete explicit friend namespace new noexcept nullptr " +
		"operator override private protected public template this throw try typename using virtual alignas concept requires co_await co_return")},
	"js":   {line: slashes, block: starred, quotes: []quote{double, single, backtick}, keywords: set(jsWords)},
	"java": {line: slashes, block: starred, quotes: []quote{triple, double, single}, keywords: set(javaWords)},
	"cs": {line: slashes, block: starred, quotes: []quote{triple, double, single}, keywords: set(javaWords + " as async await base bool checked decimal delegate event explicit extern fixed " +
		"foreach get implicit lock namespace operator out params readonly ref set sizeof stackalloc string struct typeof uint ulong unsafe using virtual")},
	"rust": {line: slashes, block: starred, quotes: []quote{double, letter}, keywords: set("as async await break const continue crate dyn else enum extern false fn for if impl in let loop " +
		"match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char f32 f64 i32 i64 str u8 u32 u64 usize Option Result Some None Ok Err")},
	"swift": {line: slashes, block: starred, quotes: []quote{triple, double}, keywords: set("actor as async await break case catch class continue default defer deinit do else enum extension " +
		"false fileprivate for func guard if import in init inout internal is let mutating nil open operator override private protocol public return self static struct subscript super switch throw throws true try typealias var where while")},
	"python": {line: hash, quotes: []quote{triple, triple1, double, single}, keywords: set("and as assert async await break case class continue def del elif else except False finally for from " +
		"global if import in is lambda match None nonlocal not or pass raise return self True try while with yield")},
	"ruby": {line: hash, quotes: []quote{double, single}, keywords: set("alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or private " +
		"public redo require rescue retry return self super then true undef unless until when while yield")},
	"php": {line: []string{"//", "#"}, block: starred, quotes: []quote{double, single}, keywords: set(javaWords + " array as echo elseif endforeach endif fn foreach function global include isset " +
		"namespace require unset use php")},
	"shell": {line: hash, quotes: []quote{{open: `"`, close: `"`, lines: true}, {open: `'`, close: `'`, raw: true, lines: true}}, keywords: set("case do done elif else esac exit export fi for " +
		"function if in local return set shift source then trap unset until while eval exec readonly")},
	"lua": {line: []string{"--"}, block: [][2]string{{"--[[", "]]"}}, quotes: []quote{double, single}, keywords: set("and break do else elseif end false for function goto if in local nil not or repeat return then true until while")},
	"sql": {line: []string{"--"}, block: starred, quotes: []quote{double, {open: `'`, close: `'`, raw: true}}, fold: true, keywords: set("add all alter and as asc begin between by case check " +
		"column commit conflict constraint create cross default delete desc distinct do drop else end except exists explain foreign from full group having if in index inner insert integer " +
		"intersect into is join key left like limit not null offset on or order outer primary real references returning right rollback select set table text then transaction trigger union " +
		"unique update using values view when where with")},
	"yaml":   {line: hash, quotes: []quote{double, {open: `'`, close: `'`, raw: true}}, keys: ':', keywords: set("true false null yes no on off")},
	"toml":   {line: hash, quotes: []quote{triple, triple1, double, {open: `'`, close: `'`, raw: true}}, keys: '=', keywords: set("true false")},
	"ini":    {line: []string{"#", ";"}, keys: '=', keywords: set("true false yes no on off")},
	"json":   {line: slashes, block: starred, quotes: []quote{double}, keys: ':', keywords: set("true false null")},
	"css":    {line: nil, block: starred, quotes: []quote{double, single}, keys: ':', keywords: set("important media import supports keyframes")},
	"make":   {line: hash, quotes: []quote{double, single}, keys: ':', keywords: set("ifeq ifneq ifdef ifndef else endif include define endef export")},
	"docker": {line: hash, quotes: []quote{double, single}, keywords: set("FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS")},
	"hcl":    {line: []string{"#", "//"}, block: starred, quotes: []quote{double}, keys: '=', keywords: set("true false null for in if")},
	"proto": {line: slashes, block: starred, quotes: []quote{double, single}, keywords: set("syntax package import option message enum service rpc returns repeated optional required " +
		"oneof map reserved stream bool bytes double fixed32 fixed64 float int32 int64 string uint32 uint64 true false")},
	"elixir":   {line: hash, quotes: []quote{triple, double, single}, keywords: set("after alias and case catch cond def defmodule defp defstruct do else end false fn for if import in nil not or quote raise receive rescue require true try unless use when with")},
	"haskell":  {line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: []quote{double}, keywords: set("case class data deriving do else if import in infix instance let module newtype of then type where forall")},
	"markup":   {mode: markup},
	"markdown": {mode: markdown},
}

var byName = map[string]string{
	"makefile": "make", "gnumakefile": "make", "gemfile": "ruby", "rakefile": "ruby", "go.mod": "go", "jenkinsfile": "java", ".bashrc": "shell", ".profile": "shell",
	".gitconfig": "ini", ".editorconfig": "ini", ".gitattributes": "shell", ".gitignore": "shell", ".dockerignore": "shell", ".env": "shell", "cmakelists.txt": "shell",
}

var byExt = extensions(map[string]string{
	"go": "go templ", "c": "c h cc cpp cxx hh hpp hxx m mm ino cu glsl", "js": "js jsx mjs cjs ts tsx mts cts vue svelte", "java": "java kt kts scala groovy gradle dart",
	"cs": "cs", "rust": "rs zig", "swift": "swift", "python": "py pyi pyw bzl star", "ruby": "rb rake gemspec cr", "php": "php", "shell": "sh bash zsh fish ksh ps1 env",
	"lua": "lua", "sql": "sql", "yaml": "yaml yml", "toml": "toml", "ini": "ini cfg conf properties service timer", "json": "json jsonc json5 webmanifest", "css": "css scss less",
	"make": "mk", "docker": "dockerfile", "hcl": "hcl tf tfvars nix", "proto": "proto thrift graphql gql", "elixir": "ex exs", "haskell": "hs elm ml",
	"markup": "html htm xml svg xhtml plist xsl csproj", "markdown": "md markdown mdx",
})

func extensions(of map[string]string) map[string]string {
	m := map[string]string{}
	for lang, list := range of {
		for ext := range strings.FieldsSeq(list) {
			m[ext] = lang
		}
	}
	return m
}
