package plan

import "context"

// Role is what the bearer of a run's token may do.
type Role string

// The roles. The zero Role is the trusted caller: a person or a planning
// session on this machine.
const (
	Trusted Role = ""
	Worker  Role = "worker"  // its own subtree only
	Planner Role = "planner" // reads, and hands in a plan
	Nobody  Role = "none"    // reviewers and judges: no tools
)

// Actor is who asks for an operation. The zero Actor is the trusted caller.
type Actor struct {
	Role Role
	Run  RunID
	Ref  Ref // the node that the run works on
}

type actorKey struct{}

// WithActor returns a context that carries the actor.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor of a context, the trusted one when there is none.
func ActorFrom(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}
