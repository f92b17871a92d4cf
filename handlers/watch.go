package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// watch notes which route a request took and turns a panic into an error.
func (s *server) watch(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		visitOf(c.Request().Context()).route = c.Path()
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			if err != nil {
				c.Error(err) // here, so that middleware around sees the status
			}
		}()
		return next(c)
	}
}

// readForm reads the form that a page posts, before anything is done with it:
// handlers that ask for single values do not hear that the rest never came.
func readForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodPost || wantsJSON(r) {
			return next(c)
		}
		var tooLarge *http.MaxBytesError
		switch err := r.ParseForm(); {
		case errors.As(err, &tooLarge):
			return err
		case err != nil:
			return plan.Errorf(plan.Malformed, "the form cannot be read")
		}
		return next(c)
	}
}
