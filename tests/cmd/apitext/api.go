package main

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"
)

// read imports the packages of the lines "path name file", in which file has the compiled declarations.
func read(lines []string) (packages []*types.Package, err error) {
	files := map[string]string{}
	var offered []string
	for _, line := range lines {
		path, rest, _ := strings.Cut(line, " ")
		name, file, _ := strings.Cut(rest, " ")
		files[path] = file
		if isOffered(path, name) {
			offered = append(offered, path)
		}
	}
	slices.Sort(offered)
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", open)
	for _, path := range offered {
		loaded, err := compiled.Import(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		packages = append(packages, loaded)
	}
	return packages, nil
}

// apiOf returns one line for each exported declaration, sorted.
func apiOf(packages []*types.Package) (lines []string) {
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			if object := p.Scope().Lookup(name); object.Exported() {
				for _, line := range declarations(object) {
					lines = append(lines, short(p)+": "+line)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// short returns the path of a package without that of the module.
func short(p *types.Package) string { return strings.TrimPrefix(p.Path(), module+"/") }

// declarations returns the lines of a declaration: a type has further lines for its fields and methods.
func declarations(object types.Object) (lines []string) {
	switch object := object.(type) {
	case *types.Const:
		return []string{"const " + object.Name() + " " + text(object.Type()) + " = " + object.Val().ExactString()}
	case *types.Var:
		return []string{"var " + object.Name() + " " + text(object.Type())}
	case *types.Func:
		return []string{"func " + object.Name() + signature(object)}
	case *types.TypeName:
		if object.IsAlias() {
			return []string{"type " + object.Name() + " = " + text(types.Unalias(object.Type()))}
		}
		return typeLines(object)
	}
	return nil
}

func typeLines(object *types.TypeName) (lines []string) {
	head := "type " + object.Name()
	named, _ := object.Type().(*types.Named)
	if parameters := named.TypeParams(); parameters.Len() > 0 {
		head += fmt.Sprintf("[%d parameters]", parameters.Len())
	}
	switch underlying := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, head+" struct")
		for field := range underlying.Fields() {
			if field.Exported() {
				lines = append(lines, head+" struct, "+field.Name()+" "+text(field.Type()))
			}
		}
	case *types.Interface:
		// One line: a further method breaks the applications that implement the interface.
		var methods []string
		for method := range underlying.Methods() {
			methods = append(methods, method.Name()+signature(method))
		}
		slices.Sort(methods)
		return []string{head + " interface { " + strings.Join(methods, "; ") + " }"}
	default:
		lines = append(lines, head+" "+text(underlying))
	}
	for method := range named.Methods() {
		if method.Exported() {
			receiver := method.Signature().Recv().Type()
			lines = append(lines, "method ("+text(receiver)+") "+method.Name()+signature(method))
		}
	}
	return lines
}

// signature returns the parameters and results of a function without their names, because names are no API.
func signature(f *types.Func) string {
	s := f.Signature()
	unnamed := func(list *types.Tuple) *types.Tuple {
		var all []*types.Var
		for v := range list.Variables() {
			all = append(all, types.NewParam(token.NoPos, v.Pkg(), "", v.Type()))
		}
		return types.NewTuple(all...)
	}
	plain := types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	return strings.TrimPrefix(text(plain), "func")
}

func text(t types.Type) string { return types.TypeString(t, short) }
