/* Linked into every test. Criterion opens libgit2, with which it shows how two texts differ. That
 * reads the certificates of the system, which takes longer than a small test, and each test is a
 * process. These two stand in for it; nothing here asks for such differences. */
int git_libgit2_init(void);
int git_libgit2_shutdown(void);

int git_libgit2_init(void)
{
    return 1; /* how often it was opened */
}

int git_libgit2_shutdown(void)
{
    return 0;
}
