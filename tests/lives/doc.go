// Package lives plays random sequences of events on the real stores: people register, are erased and return under the
// same id, tables and databases are restored, journals are replayed, retained values become due, and the clocks of
// processes are hours apart. A model knows whose each row, cell and record is. After each event, the tests compare the
// store and everything that it shows with the model, and check what no evidence may make wrong: nobody's data is
// destroyed, shown or kept without being counted. The package has only tests.
package lives
