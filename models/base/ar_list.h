/** \file ar_list.h
 * A loop over a list, and code made of a list macro, an X-macro whose rows begin with a symbol and
 * mostly a name:
 *
 *     #define FRUIT_LIST(X) X(APPLE, "apple", 0.2) X(PEAR, "pear", 0.3)
 *     enum fruit { FRUIT_LIST(AR_LIST_FIRST) FRUITS_COUNT };
 *     const char *const fruit_names[] = {FRUIT_LIST(AR_LIST_SECOND) NULL};
 *     const struct fruit_row rows[] = {FRUIT_LIST(AR_LIST_REST)}; // {"apple", 0.2}, ...
 */
#pragma once

/** The head of a loop: `element` points to each of `count` elements of `type`, which begin at
 * `list`; that may be NULL if there are none. */
#define AR_EACH(type, element, list, count)                                                        \
    for (type *element = (list), *const element##_end_ = (count) > 0 ? element + (count)           \
                                                                     : element;                    \
         element != element##_end_; element++)

#define AR_LIST_FIRST(first, ...)  first,
#define AR_LIST_SECOND(first, ...) AR_LIST_FIRST(__VA_ARGS__, )
#define AR_LIST_REST(first, ...)   {__VA_ARGS__},
#define AR_LIST_VALUES(first, ...) AR_LIST_REST(__VA_ARGS__) /* all behind the name */
