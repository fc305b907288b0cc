// Nothing: the target it belongs to compiles the headers that every test includes.
