// A guest's own file that would not pass our warnings, and must not have to.
int sloppy(int count, double unused) {
    unsigned char small = count;
    int shadow = small;
    {
        int shadow = (int)3.5;
        small += shadow;
    }
    return shadow + small;
}
