package names

import "slices"

// MeansThing reports whether the stem of a reference to one of several tables says what can be done with things only,
// such as taggable, or is a word with the same ending that is a thing.
func MeansThing(stem string) bool {
	return slices.ContainsFunc(partsOf(stem), func(word string) bool {
		return slices.ContainsFunc(thingsAble, func(p pattern) bool { return p[0] == word })
	})
}

var thingsAble = patterns(`
	taggable, votable, voteable, categorizable, categorisable, classifiable, entryable, purchasable, purchaseable,
	buyable, sellable, orderable, shippable, stockable, priceable, discountable, rentable, bookable, publishable,
	downloadable, printable, playable, streamable, embeddable, renderable, cacheable, pageable, sortable, configurable,
	deployable, executable, runnable, buildable, schedulable, transitionable, eligible, table, variable, cable,
	collectible`)
